// Who has which resource of a robot, and had it while the page was open.
import type { Header, ResourceClient, ResourceRound, ResourceState } from "../ros/messages";

// span is how much of the past is kept and shown, s.
export const span = 60;

// Stretch is a time in which one controller has, or waits for, a resource. It goes on
// while to is Infinity.
export interface Stretch { who: string; from: number; to: number; part: boolean }

export interface Denial { who: string; at: number; why: string }

// Row is one resource: who has it and who waits, now and before.
export interface Row { name: string; holders: string[]; offered: string[]; waiting: string[]; had: Stretch[]; waited: Stretch[]; denied: Denial[] }

export const seconds = (h: Header) => h.stamp.sec + h.stamp.nanosec * 1e-9;

const unique = (names: string[]) => [...new Set(names.filter((n) => n !== ""))];

export class Resources {
  rows = $state.raw<Row[]>([]);
  clients = $state.raw<ResourceClient[]>([]);
  rounds = $state.raw<ResourceRound[]>([]); // newest first
  private seen = 0; // number of the newest round that was noted as denied

  take(m: ResourceState) {
    const at = seconds(m.header);
    const before = new Map(this.rows.map((r) => [r.name, r]));
    const leaves = new Map<string, ResourceState["leaves"]>();
    for (const leaf of m.leaves) {
      for (const name of leaf.resources.length > 0 ? leaf.resources : [leaf.name]) leaves.set(name, [...(leaves.get(name) ?? []), leaf]);
    }
    this.rows = [...leaves].map(([name, of]) => {
      const old = before.get(name);
      const holders = unique(of.map((l) => l.owner));
      const whole = of.every((l) => l.owner === holders[0]);
      const waiting = unique(of.flatMap((l) => l.waiting));
      return {
        name, holders, waiting,
        offered: unique(of.map((l) => l.offered_to)),
        had: follow(old?.had ?? [], holders, at, !whole),
        waited: follow(old?.waited ?? [], waiting, at, false),
        denied: (old?.denied ?? []).filter((d) => d.at > at - span),
      };
    });
    this.note(m);
    this.clients = m.clients;
    this.rounds = m.rounds.toReversed();
  }

  // note marks denials that are new on the resources that they are about.
  private note(m: ResourceState) {
    for (const r of m.rounds) {
      if (r.outcome !== "denied" || r.number <= this.seen) continue;
      for (const why of r.why) {
        const about = m.leaves.find((l) => l.name === why.joint || l.name === why.resource)?.resources ?? [];
        const row = this.rows.find((x) => x.name === why.resource) ?? this.rows.find((x) => about.includes(x.name));
        row?.denied.push({ who: r.requester, at: r.ended, why: why.text });
      }
    }
    this.seen = Math.max(this.seen, ...m.rounds.filter((r) => r.outcome !== "open").map((r) => r.number));
  }
}

// follow ends the stretches of who is out, begins those of who is new, and forgets what is
// long over.
function follow(old: Stretch[], now: string[], at: number, part: boolean): Stretch[] {
  const kept = old.filter((s) => s.to > at - span).map((s) => (s.to === Infinity && !(now.includes(s.who) && s.part === part) ? { ...s, to: at } : s));
  const fresh = now.filter((who) => !kept.some((s) => s.who === who && s.to === Infinity));
  return [...kept, ...fresh.map((who) => ({ who, from: at, to: Infinity, part }))];
}

// hue gives a controller its colour.
export function hue(name: string): number {
  let h = 0;
  for (const c of name) h = (h * 31 + c.charCodeAt(0)) % 360;
  return h;
}
