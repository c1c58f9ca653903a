import { LimitedResource } from '../../examples/incident/limited-resource';
import { SeededRandom } from '../../examples/incident/seeded-random';
import { type Process, SimulatedTime } from '../../examples/incident/simulated-time';

describe('simulated time', () => {
  it('lets things happen when they are due, in the order asked for where they are due at once, and nothing after the end', () => {
    const random = new SeededRandom(1);
    const time = new SimulatedTime(1_000);
    const happened: [number, number][] = [];
    const asked = Array.from({ length: 300 }, (_, index) => ({ index, at: random.between(0, 40) }));
    for (const { index, at } of asked) time.after(at, () => happened.push([time.now, index]));
    time.run(1_040);
    const expected = asked.filter(({ at }) => at < 40).sort((a, b) => a.at - b.at || a.index - b.index);
    expect(happened).toEqual(expected.map(({ at, index }) => [1_000 + at, index]));
    expect(time.now).toBe(1_040);
  });

  it('runs processes beside each other and hands over what they give back', () => {
    const time = new SimulatedTime(0);
    const ends: [string, number][] = [];
    function* work(ms: number): Process<number> {
      yield* time.sleep(ms);
      yield* time.sleep(ms);
      return time.now;
    }
    time.start(work(30), (at) => ends.push(['slow', at]));
    time.start(work(10), (at) => ends.push(['fast', at]));
    time.run(100);
    expect(ends).toEqual([
      ['fast', 20],
      ['slow', 60],
    ]);
  });
});

describe('a limited resource', () => {
  it('serves who asked first, gives up on time, and counts how long it was in use', () => {
    const time = new SimulatedTime(0);
    const resource = new LimitedResource(time, 2);
    const got: [string, boolean, number][] = [];
    function* use(name: string, holdMs: number, patienceMs?: number): Process<void> {
      const taken = yield* resource.acquire(patienceMs);
      got.push([name, taken, time.now]);
      if (!taken) return;
      yield* time.sleep(holdMs);
      resource.release();
    }
    time.start(use('first', 50));
    time.start(use('second', 30));
    time.start(use('impatient', 10, 20));
    time.start(use('patient', 10));
    expect([resource.inUse, resource.waiting]).toEqual([2, 2]);
    time.run(100);
    expect(got).toEqual([
      ['first', true, 0],
      ['second', true, 0],
      ['impatient', false, 20],
      ['patient', true, 30],
    ]);
    expect([resource.inUse, resource.waiting, resource.takeBusy(), resource.takeBusy()]).toEqual([0, 0, 90, 0]);
  });
});
