import { FAULT_KINDS } from '../../examples/incident/faults';
import { generateIncident } from '../../examples/incident/incident-generator';

interface Line {
  readonly time: string;
  readonly level: string;
  readonly service: string;
  readonly trace_id?: string;
  readonly msg: string;
}

function linesOf(seed: number, kind: (typeof FAULT_KINDS)[number]): Line[] {
  const text = generateIncident(seed, kind).files.get('shop.jsonl') ?? '';
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

describe('the incident generator', () => {
  it('gives equal bytes for an equal seed, other names for another one', () => {
    expect(generateIncident(5, 'error_burst')).toEqual(generateIncident(5, 'error_burst'));
    expect(generateIncident(5, 'error_burst').truth.cause).not.toBe(generateIncident(6, 'error_burst').truth.cause);
  });

  it.each(FAULT_KINDS)('plants %s in the window, red herrings around it, and nothing in the healthy stretch', (kind) => {
    const { truth } = generateIncident(3, kind);
    const lines = linesOf(3, kind);
    const inside = ({ from, to }: { from: string; to: string }): Line[] => lines.filter(({ time }) => time >= from && time < to);
    const errorsOfCause = (window: { from: string; to: string }): number =>
      inside(window).filter((line) => line.service === truth.cause && ['warn', 'error'].includes(line.level)).length;
    expect(errorsOfCause(truth.window)).toBeGreaterThan(20);
    expect(errorsOfCause(truth.healthy)).toBe(0);
    expect(errorsOfCause(truth.baseline)).toBe(0);
    expect(inside(truth.baseline).some((line) => line.service === truth.noisy_service && line.level === 'warn')).toBe(true);
    const deploys = lines.filter((line) => line.msg.startsWith('deployment of version'));
    expect(deploys.map((line) => line.service)).toEqual(
      kind === 'bad_deploy' ? [truth.innocent_deploy, truth.cause] : [truth.innocent_deploy],
    );
  });

  it('writes lines in the order of time', () => {
    const times = linesOf(4, 'slow_dependency').map((line) => line.time);
    expect(times).toEqual([...times].sort());
  });
});
