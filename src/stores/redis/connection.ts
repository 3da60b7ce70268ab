import { RobotsInvalidOptionsError } from '../../core/base/index.ts';

/** An argument of a command. */
export type RedisArgument = string | Buffer;

/** ioredis and iovalkey, `Cluster` included. */
export interface CallingConnection {
  callBuffer(command: string, ...args: RedisArgument[]): Promise<unknown>;
}

/** Options of a node-redis command that make it return bulk strings as bytes. */
export interface NodeRedisReplies {
  readonly typeMapping: { readonly 36: BufferConstructor };
}

/** node-redis: `createClient()` and `createClientPool()`. */
export interface NodeRedisConnection {
  sendCommand(args: RedisArgument[], options: NodeRedisReplies): Promise<unknown>;
}

/** node-redis: `createCluster()`. */
export interface NodeRedisClusterConnection {
  nodeClient(node: never): unknown;
  sendCommand(
    firstKey: string,
    isReadonly: boolean,
    args: RedisArgument[],
    options: NodeRedisReplies,
  ): Promise<unknown>;
}

/** node-redis: `createSentinel()`. */
export interface NodeRedisSentinelConnection {
  getMasterNode(): unknown;
  sendCommand(isReadonly: boolean, args: RedisArgument[], options: NodeRedisReplies): Promise<unknown>;
}

/** A connection made by the caller, with any supported client library. */
export type RedisConnection =
  | CallingConnection
  | NodeRedisConnection
  | NodeRedisClusterConnection
  | NodeRedisSentinelConnection;

/** Sends a command about `key` to the node that holds it. Bulk strings are returned as bytes. */
export type SendCommand = (key: string, command: string, ...args: RedisArgument[]) => Promise<unknown>;

/** 36 is `$`, the RESP type of bulk strings. Decoded as text, they would lose bytes that are not UTF-8. */
const REPLIES: NodeRedisReplies = { typeMapping: { 36: Buffer } };

/**
 * Returns a function that sends commands over a connection of any supported library.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function commandsOver(connection: RedisConnection): SendCommand {
  // ioredis also has `sendCommand`, with other arguments.
  if (has(connection, 'callBuffer')) {
    return (_key, command, ...args) => {
      // ioredis loses the name that `callBuffer` is given where it makes pipelines by itself (`enableAutoPipelining`).
      const method: unknown = Reflect.get(connection, `${command.toLowerCase()}Buffer`);
      if (typeof method !== 'function') return connection.callBuffer(command, ...args);
      return Reflect.apply(method, connection, args) as Promise<unknown>;
    };
  }
  if (!has(connection, 'sendCommand')) {
    throw new RobotsInvalidOptionsError(
      'Expected a connection of node-redis (`sendCommand`), ioredis or iovalkey (`callBuffer`), got neither',
    );
  }
  // node-redis 4 has no `destroy`. It gives bytes as text, which loses those that are not UTF-8.
  if (typeof Reflect.get(connection, 'destroy') !== 'function') {
    throw new RobotsInvalidOptionsError(
      'Expected a connection of node-redis 5 or later, of ioredis 4 or later, or of iovalkey, got one of an earlier ' +
        'node-redis, which has no `destroy`; update the package `redis`',
    );
  }
  // Never read from a replica: a new holder of a lease must see what the previous one wrote.
  if (has(connection, 'nodeClient')) {
    return (key, ...command) => connection.sendCommand(key, false, command, REPLIES);
  }
  if (has(connection, 'getMasterNode')) {
    return (_key, ...command) => connection.sendCommand(false, command, REPLIES);
  }
  return (_key, ...command) => connection.sendCommand(command, REPLIES);
}

function has<Method extends string, Connection>(
  connection: Connection,
  method: Method,
): connection is Extract<Connection, Record<Method, unknown>> {
  return (
    typeof connection === 'object' &&
    connection !== null &&
    typeof Reflect.get(connection, method) === 'function'
  );
}
