export interface Figure {
  what: string;
  value: string;
}

export interface Benchmark {
  /** What its figures answer. */
  question: string;
  measure(): Promise<Figure[]>;
}

export function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 0)} ms`;
}

export function ratio(value: number, base: number): string {
  return `${(value / base).toFixed(1)}×`;
}
