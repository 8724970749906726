// scripts/cluster.sh with several Temporal servers on a new database.
import { HoldfastClient } from '../../../client/holdfast-client';
import { Cluster, noCluster } from '../../helpers/engines/cluster';

/** As in scripts/cluster.sh. */
const SERVER_STEP = 20;

const missing = noCluster();
(missing === undefined ? test : test.skip)(
  `on a new database each of two servers answers: none ends because the other has set it up${missing ? ` (not checked: ${missing})` : ''}`,
  async () => {
    const cluster = new Cluster();
    try {
      await cluster.start(2);
      for (const port of [cluster.port, cluster.port + SERVER_STEP]) {
        const client = await HoldfastClient.connect({ address: `127.0.0.1:${port}` }, {});
        expect(await client.hosts.list()).toEqual([]);
        await client.close();
      }
    } finally {
      await cluster.stop();
    }
  },
  // The server is built first where that was not done yet.
  1_200_000,
);
