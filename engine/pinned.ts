// The one version of the Temporal CLI (which carries the development server) that we fetch or build.
// engine/temporal/go.mod pins the same one; a test compares them.

/** Version of the Temporal CLI. */
export const TEMPORAL_CLI_VERSION = '1.8.2';

/** Oldest server that we use when the machine brings its own: update-with-start is complete from here on. */
export const OLDEST_SERVER_VERSION = '1.28.0';

/** The package that `go build` builds. */
export const TEMPORAL_CLI_PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
