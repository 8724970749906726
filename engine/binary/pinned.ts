// The one version of the Temporal CLI (which contains the development server) that we download or build.
// engine/temporal/go.mod pins the same one; a test compares them.

/** Version of the Temporal CLI. */
export const TEMPORAL_CLI_VERSION = '1.8.2';

/** Oldest server accepted from the machine: from here on update-with-start is complete. */
export const OLDEST_SERVER_VERSION = '1.28.0';

/** The package that `go build` builds. */
export const TEMPORAL_CLI_PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
