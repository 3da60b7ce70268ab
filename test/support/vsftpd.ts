import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { installed } from './installed.ts';

/** A real FTP server on a loopback port of its own. */
export interface FtpServer {
  /** `ftp://127.0.0.1:<port>` */
  readonly origin: string;
  /** Puts a file into the folder that anonymous users see, or takes it away. */
  put(name: string, content: string | Uint8Array | undefined): void;
  /** The commands it has logged of a verb, such as `RETR /robots.txt`. */
  commands(verb: string): string[];
  close(): Promise<void>;
}

/**
 * The program, where tests can use it: to root alone it shows a folder as the root that `RETR /robots.txt` means. Else
 * they are skipped with a line that says so; where `CI` is `true` they fail.
 */
export function vsftpdProgram(): string | undefined {
  const program = installed('vsftpd');
  if (program === undefined || process.getuid?.() === 0) return program;
  if (process.env['CI'] === 'true') throw new Error('Expected the tests of vsftpd to be run as root');
  process.stderr.write('Skipped: vsftpd can be tested as root alone\n');
  return undefined;
}

/** Starts vsftpd with a configuration of its own in a temporary folder. */
export async function startVsftpd(
  program: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<FtpServer> {
  const folder = mkdtempSync(join(tmpdir(), 'canfetch-vsftpd-'));
  // Its user for anonymous logins has to get through, and must not be able to write.
  chmodSync(folder, 0o755);
  const root = join(folder, 'root');
  const empty = join(folder, 'empty');
  mkdirSync(root, { mode: 0o755 });
  mkdirSync(empty, { mode: 0o755 });
  const log = join(folder, 'log');
  const port = await freePort();
  const all = {
    listen: 'YES',
    listen_address: '127.0.0.1',
    listen_port: String(port),
    background: 'NO',
    anonymous_enable: 'YES',
    local_enable: 'NO',
    anon_root: root,
    secure_chroot_dir: empty,
    seccomp_sandbox: 'NO',
    xferlog_enable: 'YES',
    log_ftp_protocol: 'YES',
    vsftpd_log_file: log,
    pasv_min_port: '20000',
    pasv_max_port: '60000',
    ...settings,
  };
  const file = join(folder, 'vsftpd.conf');
  writeFileSync(
    file,
    Object.entries(all)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const server = spawn(program, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (data) => (said += String(data)));
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const close = async (): Promise<void> => {
    server.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  while (!(await accepts(port))) {
    if (server.exitCode !== null) {
      await close();
      throw new Error(`vsftpd did not start: ${said}`);
    }
    await pause(20);
  }
  return {
    origin: `ftp://127.0.0.1:${port}`,
    put(name, content) {
      const path = join(root, name);
      if (content === undefined) rmSync(path, { force: true });
      else writeFileSync(path, content, { mode: 0o644 });
    },
    commands(verb) {
      const found = readFileSync(log, 'latin1').matchAll(/FTP command: Client "[^"]*", "([^"]*)"/g);
      return [...found].map((match) => match[1] ?? '').filter((command) => command.startsWith(verb));
    },
    close,
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
