// Waits for a Temporal server and makes its namespace `default`, with the search attributes of Holdfast.
const { Client, Connection } = require('@temporalio/client');
const { msToTs } = require('@temporalio/common/lib/time');
const { registerSearchAttributes } = require('../dist/workers/search-attributes');

const PATIENCE_MS = 120_000;
const PAUSE_MS = 500;
const RETENTION = '72 hours';

/** gRPC status code of a namespace that exists. */
const ALREADY_EXISTS = 6;

async function prepare(address, namespace) {
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService
      .registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs(RETENTION) })
      .catch((err) => {
        if (err.code !== ALREADY_EXISTS) throw err;
      });
    // A new namespace reaches the servers' caches some seconds later: until then this fails.
    const client = new Client({ connection, namespace });
    await registerSearchAttributes(client);
    await client.workflow.count('HoldfastState = "asks"');
  } finally {
    await connection.close();
  }
}

async function main([address, namespace = 'default']) {
  for (const until = Date.now() + PATIENCE_MS; ;) {
    try {
      return await prepare(address, namespace);
    } catch (err) {
      if (Date.now() > until) throw err;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

main(process.argv.slice(2)).catch((err) => {
  console.error(err.message);
  process.exitCode = 1;
});
