/** What a comparison with a data folder found: how many rows were checked and a line for each that disagrees. */
export interface Agreement {
  readonly name: string;
  readonly checked: number;
  readonly disagreements: readonly string[];
}
