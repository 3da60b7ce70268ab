import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What a scripted FTP server is given to work with while it answers one command. */
export interface FtpExchange {
  /** The argument after the verb. */
  readonly argument: string;
  readonly control: Socket;
  /** Writes lines to the control connection. */
  reply(...lines: string[]): void;
  /** Listens for the data connection, and gives its port. */
  listen(): Promise<number>;
  /** The data connection, once the client has opened it. */
  data(): Promise<Socket>;
}

export type FtpAnswer = string | ((exchange: FtpExchange) => void | Promise<void>);

/** By verb; `greeting` is what comes first. What is not named is answered as an honest server would. */
export type FtpScript = Readonly<
  Partial<Record<'greeting' | 'USER' | 'PASS' | 'TYPE' | 'EPSV' | 'PASV' | 'RETR', FtpAnswer>>
>;

export interface FtpSite extends AsyncDisposable {
  /** `ftp://127.0.0.1:<port>` */
  readonly origin: string;
  readonly port: number;
  /** Every command so far, in order of arrival. */
  readonly commands: readonly string[];
  /** How often a file was asked for. */
  retrievals(): number;
  /** TCP connections so far, and those that are open. */
  connections(): number;
  dataConnections(): number;
  /** Resolves when no connection is open. */
  whenLeft(): Promise<void>;
}

/** Sends a file as an honest server does. */
export function send(content: string | Uint8Array): FtpAnswer {
  return async ({ reply, data }) => {
    reply('150 Here it comes.');
    (await data()).end(content, () => reply('226 Transfer complete.'));
  };
}

const honest: Required<FtpScript> = {
  greeting: '220 Ready.',
  USER: '331 Any password will do.',
  PASS: '230 Welcome.',
  TYPE: '200 Image.',
  EPSV: async ({ listen, reply }) => reply(`229 Entering extended passive mode (|||${await listen()}|)`),
  PASV: async ({ listen, reply }) => reply(passive('127,0,0,1', await listen())),
  RETR: send('User-agent: *\nDisallow: /private\n'),
};

/** What a server says to PASV. */
export function passive(host: string, port: number): string {
  return `227 Entering passive mode (${host},${port >> 8},${port & 255})`;
}

/** An FTP server that is as honest as its script. */
export async function startFtpSite(script: FtpScript = {}): Promise<FtpSite> {
  const commands: string[] = [];
  const open = new Set<Socket>();
  const servers: Server[] = [];
  const watchers = new Set<() => void>();
  let connections = 0;
  let dataConnections = 0;

  const track = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', ignore);
    socket.once('close', () => {
      open.delete(socket);
      for (const watcher of watchers) watcher();
    });
  };
  const listening = async (onConnection: (socket: Socket) => void): Promise<number> => {
    const server = createServer((socket) => {
      track(socket);
      onConnection(socket);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };

  const port = await listening((control) => {
    connections++;
    control.setNoDelay(true);
    let announced: Promise<Socket> | undefined;
    const exchange = (argument: string): FtpExchange => ({
      argument,
      control,
      reply: (...lines) => void control.write(lines.map((line) => `${line}\r\n`).join('')),
      listen: () =>
        new Promise((resolve, reject) => {
          announced = new Promise((connected) => {
            listening((socket) => {
              dataConnections++;
              connected(socket);
            }).then(resolve, reject);
          });
        }),
      data: () => announced ?? Promise.reject(new Error('No data connection was requested')),
    });
    const answer = async (verb: string, argument: string): Promise<void> => {
      const step = script[verb as keyof FtpScript] ?? honest[verb as keyof FtpScript] ?? '502 What?';
      if (typeof step === 'string') exchange(argument).reply(step);
      else await step(exchange(argument));
    };
    let received = '';
    control.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let end; (end = received.indexOf('\r\n')) >= 0; received = received.slice(end + 2)) {
        const command = received.slice(0, end);
        commands.push(command);
        const [verb = '', ...rest] = command.split(' ');
        if (verb === 'QUIT') control.end();
        else void answer(verb, rest.join(' '));
      }
    });
    void answer('greeting', '');
  });

  return {
    origin: `ftp://127.0.0.1:${port}`,
    port,
    commands,
    retrievals: () => commands.filter((command) => command.startsWith('RETR')).length,
    connections: () => connections,
    dataConnections: () => dataConnections,
    whenLeft: () =>
      new Promise((resolve) => {
        const look = (): void => {
          if (open.size > 0) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      for (const socket of open) socket.destroy();
      await Promise.all(closed);
    },
  };
}

function ignore(): void {}
