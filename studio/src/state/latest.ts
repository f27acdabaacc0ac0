// latest makes a function that is called again and again run one call at a time:
// of those that come meanwhile only the newest counts.
export function latest<A extends unknown[]>(f: (...args: A) => Promise<unknown>): (...args: A) => void {
  let busy = false;
  let next: A | undefined;
  const run = async (args: A) => {
    busy = true;
    try {
      await f(...args);
    } finally {
      busy = false;
      const waiting = next;
      next = undefined;
      if (waiting) void run(waiting);
    }
  };
  return (...args) => {
    if (busy) next = args;
    else void run(args);
  };
}
