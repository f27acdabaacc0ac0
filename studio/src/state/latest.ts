// latest makes a function that is called again and again run one call at a time:
// of those that come meanwhile only the newest counts. What it returns is
// fulfilled when nothing is left to do.
export function latest<A extends unknown[]>(f: (...args: A) => Promise<unknown>): (...args: A) => Promise<void> {
  let next: A | undefined;
  let running: Promise<void> | undefined;
  const run = async () => {
    while (next) {
      const args = next;
      next = undefined;
      await f(...args).catch(() => {}); // f tells of its own troubles
    }
    running = undefined;
  };
  return (...args) => {
    next = args;
    running ??= run();
    return running;
  };
}
