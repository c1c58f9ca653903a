import { Injectable } from '@nestjs/common';
import { Clock } from '../ports/clock.port';

/** The machine's time. */
@Injectable()
export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}
