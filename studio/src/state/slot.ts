// A place in the browser's storage for each tab: two tabs that edit at the same
// time keep two documents, and what a closed tab left unsaved is found again.
import type { Store } from "./editor.svelte";

const name = (slot: number) => (slot === 0 ? "poise.studio.editor" : `poise.studio.editor.${slot}`);
const slots = 8;
const mine = "poise.studio.slot"; // in the session: a tab that is reloaded takes its own place
const patience = 600; // ms until the page that was here before the reload has let go

// take holds a place for as long as the page is there, or says that another tab
// has it.
async function take(slot: number, wait: boolean): Promise<boolean> {
  const options = wait ? { signal: AbortSignal.timeout(patience) } : { ifAvailable: true };
  return new Promise((answer) => {
    const held = navigator.locks.request(name(slot), options, (lock) => {
      answer(lock !== null);
      return lock ? new Promise(() => {}) : undefined; // for good
    });
    held.catch(() => answer(false));
  });
}

// unsaved tells whether a place has changes that are on no server.
function unsaved(slot: number): boolean {
  try {
    const kept = JSON.parse(localStorage.getItem(name(slot)) ?? "null") as { motion: unknown; saved: string } | null;
    return kept !== null && JSON.stringify(kept.motion) !== kept.saved;
  } catch {
    return false;
  }
}

async function choose(): Promise<number> {
  const before = sessionStorage.getItem(mine);
  if (before !== null && (await take(Number(before), true))) return Number(before);
  const all = Array.from({ length: slots }, (_, i) => i);
  for (const slot of [...all.filter(unsaved), ...all]) if (await take(slot, false)) return slot;
  return slots - 1; // so many tabs have to share
}

// claim finds the place of this tab. A page that is not served from this machine
// or by https has no locks: then a tab that sees another write to its place moves
// on to the next.
export async function claim(): Promise<Store> {
  let slot = 0;
  let last: string | undefined;
  if ("locks" in navigator) slot = await choose();
  else slot = Number(sessionStorage.getItem(mine) ?? 0);
  sessionStorage.setItem(mine, String(slot));
  const write = (text: string) => {
    last = text;
    localStorage.setItem(name(slot), text);
  };
  addEventListener("storage", (e) => {
    if (e.key !== name(slot) || last === undefined || e.newValue === last || slot + 1 >= slots) return;
    sessionStorage.setItem(mine, String(++slot));
    write(last);
  });
  return { read: () => localStorage.getItem(name(slot)), write };
}
