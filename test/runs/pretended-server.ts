import { createServer, type AddressInfo, type Socket } from 'node:net';

/** PROTOCOL_41, CONNECT_WITH_DB, SECURE_CONNECTION and PLUGIN_AUTH. */
const CAPABILITIES = 0x8_8208;
const UTF8MB4 = 45;
const COM_QUIT = 1;
const END = Buffer.from([0xfe, 0, 0, 2, 0]);

const text = (value: string): Buffer => Buffer.concat([Buffer.from([Buffer.byteLength(value)]), Buffer.from(value)]);
const int = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
};
const packet = (sequence: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([int(body.length, 3), int(sequence, 1), body]);
};

/**
 * Something that speaks as much of the protocol of MySQL as it takes to be asked one question, and answers each with the same row:
 * servers of every version cannot be had for tests.
 */
export async function pretendServer(
  version: string,
  row: Readonly<Record<string, string>>,
): Promise<{ port: number; close(): void }> {
  const server = createServer((socket) => speak(socket, version, row));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

function speak(socket: Socket, version: string, row: Readonly<Record<string, string>>): void {
  let isKnown = false;
  socket.on('error', () => undefined);
  socket.on('data', (data) => {
    if (!isKnown) {
      isKnown = true;
      socket.write(packet(2, Buffer.from([0, 0, 0, 2, 0, 0, 0])));
    } else if (data[4] === COM_QUIT) socket.end();
    else socket.write(answerOf(row));
  });
  const [lower, upper] = [CAPABILITIES & 0xffff, CAPABILITIES >> 16];
  const status = [int(lower, 2), int(UTF8MB4, 1), int(2, 2), int(upper, 2), int(21, 1), Buffer.alloc(10)];
  const plugin = Buffer.from('mysql_native_password\0');
  const challenge = [Buffer.alloc(8, 0x61), Buffer.alloc(1), ...status, Buffer.alloc(12, 0x62), Buffer.alloc(1), plugin];
  socket.write(packet(0, Buffer.from([10]), Buffer.from(`${version}\0`), int(7, 4), ...challenge));
}

function answerOf(row: Readonly<Record<string, string>>): Buffer {
  const names = Object.keys(row);
  const columns = names.map((name, at) => {
    const shape = [int(0x0c, 1), int(UTF8MB4, 2), int(255, 4), int(0xfd, 1), int(0, 2), int(0, 1), int(0, 2)];
    return packet(at + 2, ...['def', '', '', '', name, name].map(text), ...shape);
  });
  const behind = names.length + 2;
  const values = packet(behind + 1, ...Object.values(row).map(text));
  return Buffer.concat([packet(1, int(names.length, 1)), ...columns, packet(behind, END), values, packet(behind + 2, END)]);
}
