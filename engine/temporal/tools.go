//go:build tools

// Package tools pins the Temporal CLI, which contains the development server.
package tools

import _ "github.com/temporalio/cli/cmd/temporal"
