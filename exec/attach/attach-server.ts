// Where a host accepts connections for `attach` and live output: TLS, a token, then frames for one session, limited to
// the verbs for people at terminals. Knows nothing about Temporal.
import type { AddressInfo, Socket } from 'node:net';
import { hostname } from 'node:os';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { checkedId, checkedSession, type SessionRef } from '../../contracts/ids';
import type { HostFacts } from '../../contracts/schemas/remote-hosts';
import { AttachConnection, type AttachConnectionOptions } from './attach-connection';
import { attachCertificate, attachToken, type Certificate } from './attach-keys';
import { isProof, newNonce, proofOf, type Handshake } from './attach-proof';
import { KnownConnections } from './known-connections';
import { readLine } from './read-line';
import { Strangers } from '../strangers';
import type { FilesHost } from '../transfer/door/files-host';

/** A client that has not shown a token by then never will. */
const TOKEN_MS = 5_000;
/** Connections that have shown the token. */
const MAX_CONNECTIONS = 64;
/** Connections that have not shown it yet: a person gets time to, a flood does not. */
const MAX_STRANGERS = 64;
/** Connections without a token must not fill a disk with their refusals. */
const AUDIT_STRANGERS_MS = 1_000;
const WILDCARDS = ['0.0.0.0', '::'];

interface AttachServerOptions extends AttachConnectionOptions {
  host: string;
  /** `ADDRESS:PORT`; port 0 picks a free one. */
  listen: string;
  files: FilesHost;
}

export class AttachServer {
  private server: Server | undefined;
  private certificate: Certificate | undefined;
  /** Keyed by peer address: the socket before the TLS handshake is not the one after it. */
  private readonly strangers = new Strangers<string>({
    max: MAX_STRANGERS,
    identifyWithinMs: TOKEN_MS,
    onCrowded: (oldest) => this.reportCrowd(oldest),
  });
  private readonly known = new KnownConnections(MAX_CONNECTIONS);
  private lastStranger = -Infinity;

  constructor(private readonly options: AttachServerOptions) {}

  /** Address for the host's announcement; null before `open`. */
  get announced(): HostFacts['listens'] {
    const at = this.server?.address() as AddressInfo | null | undefined;
    if (!at || !this.certificate) return null;
    const name = WILDCARDS.includes(at.address) ? hostname() : at.address;
    const address = `${name.includes(':') ? `[${name}]` : name}:${at.port}`;
    return { address, fingerprint: this.certificate.fingerprint };
  }

  /** Throws `listen_failed`. */
  async open(): Promise<void> {
    const { dataDir, host, listen } = this.options;
    const [, address, port] = /^\[?([^\]]*?)\]?:(\d{1,5})$/.exec(listen) ?? [];
    if (!address || Number(port) > 65_535)
      throw new HoldfastError('invalid_input', { what: '--listen', got: listen, allowed: 'ADDRESS:PORT' });
    this.certificate = attachCertificate(dataDir, host);
    attachToken(dataDir, host);
    const { key, cert } = this.certificate;
    const server = createServer({ key, cert, minVersion: 'TLSv1.3', handshakeTimeout: TOKEN_MS });
    // Counted before the handshake too: a client that only connects is a stranger.
    server.on('connection', (socket: Socket) => this.strangers.admit(socket, peerOf(socket)));
    server.on('tlsClientError', () => undefined);
    server.on('secureConnection', (socket) => void this.welcome(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (err) =>
        reject(new HoldfastError('listen_failed', { host, reason: reasonOf(err) })),
      );
      server.listen(Number(port), address, resolve);
    });
    this.server = server;
  }

  close(): void {
    this.server?.close();
    this.strangers.end();
    this.known.end();
  }

  private reportCrowd(oldest: Socket): void {
    const reason = `${MAX_STRANGERS} others have shown no token`;
    const full = new HoldfastError('attach_refused', this.facts(reason));
    if (this.mayReportStranger()) this.auditRefusal(full, undefined, oldest.remoteAddress ?? 'unknown');
  }

  /** Throws `attach_refused` at the connection limit. */
  private becomeKnown(socket: TLSSocket): void {
    this.strangers.know(peerOf(socket));
    if (this.known.admit(socket)) return;
    const reason = `it has ${MAX_CONNECTIONS} connections; idle ones that are no longer there end within 15 seconds, others within 20 minutes`;
    throw new HoldfastError('attach_refused', this.facts(reason));
  }

  private async welcome(socket: TLSSocket): Promise<void> {
    socket.on('error', () => socket.destroy());
    const from = socket.remoteAddress ?? 'unknown';
    let ref: SessionRef | undefined;
    let isStranger = true;
    try {
      const hostNonce = newNonce();
      socket.write(`${JSON.stringify({ hostNonce })}\n`);
      const said = ((await readLine(socket, TOKEN_MS)) ?? {}) as Record<string, unknown>;
      const proof = this.checkProof(said, hostNonce);
      isStranger = false;
      this.becomeKnown(socket);
      if (said.files !== undefined) return this.serveFiles(socket, said.files, { from, proof });
      ref = this.checkSession(said.ref);
      this.options.access.check('attach', 'looks');
      const pulseMs = typeof said.pulseMs === 'number' ? said.pulseMs : undefined;
      const connection = new AttachConnection(socket, ref, { address: from, pulseMs }, this.options);
      socket.write(`${JSON.stringify({ ok: true, proof })}\n`);
      connection.serve();
    } catch (err) {
      const known = err instanceof HoldfastError ? err : new HoldfastError('attach_refused', this.facts(err));
      if (!isStranger || this.mayReportStranger()) this.auditRefusal(known, ref, from);
      refuse(socket, known);
    }
  }

  /** Its refusals are recorded where they are made. */
  private serveFiles(
    socket: TLSSocket,
    said: unknown,
    { from, proof }: { from: string; proof: string },
  ): void {
    const { files } = this.options;
    try {
      const asked = files.admit(said, from);
      socket.write(`${JSON.stringify({ ok: true, proof })}\n`);
      files.serve(socket, asked);
      socket.resume();
    } catch (err) {
      refuse(
        socket,
        err instanceof HoldfastError ? err : new HoldfastError('attach_refused', this.facts(err)),
      );
    }
  }

  /** Returns this side's own proof. */
  private checkProof({ personNonce, proof }: Record<string, unknown>, hostNonce: string): string {
    const { dataDir, host } = this.options;
    const { fingerprint = '' } = this.certificate ?? {};
    const handshake: Handshake = { host, fingerprint, hostNonce, personNonce: String(personNonce) };
    // Read each time, so that a changed token takes effect at once.
    const token = attachToken(dataDir, host);
    if (!isProof(proof, 'person', token, handshake))
      throw new HoldfastError('attach_refused', this.facts('the token is wrong'));
    return proofOf('host', token, handshake);
  }

  private checkSession(got: unknown): SessionRef {
    const { agent, host, session } = (got ?? {}) as Record<string, unknown>;
    const ref = {
      agent: checkedId('agent', agent),
      host: checkedId('host', host),
      session: checkedSession(session),
    };
    if (ref.host !== this.options.host)
      throw new HoldfastError('foreign_session', { got: ref.host, host: this.options.host });
    return ref;
  }

  private facts(reason: unknown): { host: string; reason: string } {
    return { host: this.options.host, reason: reasonOf(reason) };
  }

  private mayReportStranger(): boolean {
    if (performance.now() - this.lastStranger < AUDIT_STRANGERS_MS) return false;
    this.lastStranger = performance.now();
    return true;
  }

  private auditRefusal({ code }: HoldfastError, ref: SessionRef | undefined, from: string): void {
    const { host, audit } = this.options;
    const { agent, session } = ref ?? { agent: '', session: null };
    audit.write({ what: 'attach', outcome: 'refused', why: code, agent, host, session, from });
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

function refuse(socket: TLSSocket, { code, facts }: HoldfastError): void {
  socket.end(`${JSON.stringify({ error: { code, facts } })}\n`, () => socket.destroySoon());
}
