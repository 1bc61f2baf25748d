import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A wire to the server that a test can cut, as the server cannot be stopped under the other tests. */
export interface TcpProxy {
  readonly url: string;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Takes connections again, and forwards them. */
  restore(): Promise<void>;
  /** Keeps every connection and brings nothing more, as a network does that drops packets. */
  stall(): void;
  /** Takes connections and never answers, as a server does that hangs. */
  silence(): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let silent = false;
  let server: Server | undefined;

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const accept = (socket: Socket): void => {
    keep(socket);
    if (silent) return;
    const upstream = connect(Number(target.port || 5432), target.hostname);
    keep(upstream);
    socket.pipe(upstream).pipe(socket);
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
  };
  const listen = async (port: number): Promise<void> => {
    server = createServer(accept).listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const cut = async (): Promise<void> => {
    const closed = server === undefined ? undefined : once(server, 'close');
    server?.close();
    server = undefined;
    for (const socket of sockets) socket.destroy();
    await closed;
  };

  const stall = (): void => {
    silent = true;
    for (const socket of sockets) socket.unpipe().pause();
  };

  await listen(0);
  const { port } = (server as unknown as Server).address() as AddressInfo;
  const url = new URL(targetUrl);
  url.host = `127.0.0.1:${port}`;
  const begin = async (quiet: boolean): Promise<void> => {
    if (server !== undefined && silent === quiet) return;
    await cut();
    silent = quiet;
    await listen(port);
  };
  return { url: url.toString(), cut, stall, restore: () => begin(false), silence: () => begin(true), close: cut };
}
