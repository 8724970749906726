//go:build tools

// Package tools pins the Temporal server that cluster.sh builds, with its tool for databases. The same version as in the
// development server of engine/temporal.
package tools

import (
	_ "go.temporal.io/server/cmd/server"
	_ "go.temporal.io/server/cmd/tools/sql"
)
