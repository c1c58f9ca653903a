import type { Response } from 'express';

/** Silence after which a comment keeps proxies from closing the connection, in ms. */
const HEARTBEAT_MS = 10_000;

/**
 * Server-sent events over the response of a POST. Headers go out with the first event or the first heartbeat, so that an
 * error before them can still have a status of its own. It sends one terminal event and refuses everything after it.
 */
export class EventStream {
  private readonly heartbeat: NodeJS.Timeout;
  private ended = false;

  constructor(private readonly response: Response) {
    this.heartbeat = setInterval(() => this.write(': working\n\n'), HEARTBEAT_MS);
    this.heartbeat.unref();
  }

  /** Whether headers went out. */
  get started(): boolean {
    return this.response.headersSent;
  }

  send(event: string, data: object): void {
    if (!this.ended) this.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Sends the terminal event and ends the response. */
  end(event: 'result' | 'error', data: object): void {
    if (this.ended) return;
    this.send(event, data);
    this.ended = true;
    this.close();
    if (!this.response.destroyed) this.response.end();
  }

  /** Stops the heartbeat. */
  close(): void {
    this.ended = true;
    clearInterval(this.heartbeat);
  }

  private write(text: string): void {
    if (this.response.destroyed || this.response.writableEnded) return;
    if (!this.response.headersSent) {
      this.response.status(200);
      this.response.setHeader('content-type', 'text/event-stream; charset=utf-8');
      this.response.setHeader('cache-control', 'no-store, no-transform');
      this.response.setHeader('x-accel-buffering', 'no');
      this.response.flushHeaders();
    }
    this.response.write(text);
  }
}
