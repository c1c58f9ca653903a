import { segmentContrast } from '../../src/telemetry/segment-contrast';

/** A series that goes up and down a little, the same every time. */
function calm(rows: number, level = 100): number[] {
  return Array.from({ length: rows }, (_, at) => level + ((at * 7) % 5) - 2);
}

describe('segmentContrast', () => {
  it('finds the part of a window that stands out from the rest of it', () => {
    const window = [...calm(4), 160, 161, 159, ...calm(4)];
    const found = segmentContrast(calm(60), window, 1, 'far');
    // A median holds with a quiet row or two at its edge.
    expect(found?.to).toBe(6);
    expect(found?.from).toBeGreaterThanOrEqual(2);
    expect(found?.ratio).toBeGreaterThan(5);
  });

  it('finds a window that stands out as a whole beside a near baseline, and not beside a far one, whose level says nothing', () => {
    const near = segmentContrast(calm(60), calm(12, 160), 1, 'near');
    expect(near).toMatchObject({ from: 0, to: 11, change: 60 });
    expect(near?.ratio).toBeGreaterThan(5);
    expect(segmentContrast(calm(60), calm(12, 160), 1, 'far')?.ratio).toBeLessThan(2);
  });

  it('makes nothing of a level that the baseline has had as well', () => {
    const drifting = [...calm(30), ...calm(30, 160)];
    expect(segmentContrast(drifting, calm(12, 160), 1, 'near')?.ratio).toBeLessThanOrEqual(1);
  });

  it('sees a small fall of a share of successes that a rising series of the same size would not show', () => {
    const steady = Array.from({ length: 60 }, () => 100);
    const fallen = [100, 97, 97, 100, 100];
    const risen = [100, 103, 103, 100, 100];
    expect(segmentContrast(steady, fallen, -1, 'far')?.ratio).toBeGreaterThan(3);
    expect(segmentContrast(steady, risen, 1, 'far')?.ratio).toBeLessThan(1.5);
  });

  it('says nothing of a series without enough baseline', () => {
    expect(segmentContrast(calm(7), calm(5), 1, 'far')).toBeNull();
  });
});
