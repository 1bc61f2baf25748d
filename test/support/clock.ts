/**
 * Makes every reading of a test clock one millisecond later than the one before, as on a real machine: a write that
 * reads the clock twice then stores two times.
 */
export function startTicking(clock: { now: Date }): void {
  let time = clock.now.getTime();
  Object.defineProperty(clock, 'now', {
    get: () => new Date(time++),
    set: (moment: Date) => {
      time = moment.getTime();
    },
  });
}
