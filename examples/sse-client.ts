/** One server-sent event. */
export interface ServerEvent {
  readonly name: string;
  readonly data: Record<string, unknown>;
}

/** Posts JSON and yields the server-sent events of the answer as they arrive; refuses an answer that is no event stream. */
export async function* postForEvents(url: string, body: object): AsyncGenerator<ServerEvent> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(body),
  });
  if (!response.ok || response.body === null)
    throw new Error(`The service answered ${response.status}: ${await response.text()}`);
  const decoder = new TextDecoder();
  let pending = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    pending += decoder.decode(chunk, { stream: true });
    const blocks = pending.split('\n\n');
    pending = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = eventOf(block);
      if (event !== null) yield event;
    }
  }
}

function eventOf(block: string): ServerEvent | null {
  const lines = block.split('\n');
  const name = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length);
  const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length);
  return name === undefined || data === undefined ? null : { name, data: JSON.parse(data) as Record<string, unknown> };
}
