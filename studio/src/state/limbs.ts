// Limbs of a robot whose description names none: the branches of its tree. What can be
// owned and switched then are its joints.
import type { ChainInfo, JointInfo, RobotInfo } from "../ros/messages";

interface Edge { joint: string; parent: string; child: string }

function edges(urdf: string): Edge[] {
  const tree = new DOMParser().parseFromString(urdf, "text/xml");
  return [...tree.querySelectorAll("robot > joint")].map((j) => ({
    joint: j.getAttribute("name") ?? "",
    parent: j.querySelector("parent")?.getAttribute("link") ?? "",
    child: j.querySelector("child")?.getAttribute("link") ?? "",
  }));
}

// branches returns joints in chains: a chain ends where the tree divides into several
// parts that move.
export function branches(urdf: string, moving: ReadonlySet<string>): string[][] {
  const all = edges(urdf);
  const under = new Map<string, Edge[]>();
  for (const e of all) under.set(e.parent, [...(under.get(e.parent) ?? []), e]);
  const children = new Set(all.map((e) => e.child));
  const found: string[][] = [];
  const seen = new Set<string>();

  // moves tells whether a joint or one behind it moves
  const known = new Map<string, boolean>();
  function moves(e: Edge): boolean {
    const before = known.get(e.joint);
    if (before !== undefined) return before;
    known.set(e.joint, false); // a description that goes in circles ends here
    const does = moving.has(e.joint) || (under.get(e.child) ?? []).some(moves);
    known.set(e.joint, does);
    return does;
  }

  function walk(link: string, chain: string[]) {
    if (seen.has(link)) return;
    seen.add(link);
    const on = (under.get(link) ?? []).filter(moves);
    if (on.length !== 1) {
      if (chain.length > 0) found.push(chain);
      for (const e of on) walk(e.child, moving.has(e.joint) ? [e.joint] : []);
      return;
    }
    const [e] = on as [Edge];
    walk(e.child, moving.has(e.joint) ? [...chain, e.joint] : chain);
  }
  for (const e of all) if (!children.has(e.parent)) walk(e.parent, []);
  return found;
}

const bare = (joint: string) => joint.replace(/_?joint_?/i, "_").replace(/^_+|_+$/g, "") || joint;

// common returns the words with which all names begin.
function common(names: string[]): string {
  const words = names.map((n) => bare(n).split("_"));
  const first = words[0] ?? [];
  const same = first.findIndex((w, i) => words.some((other) => other[i] !== w));
  return first.slice(0, same < 0 ? first.length : same).join("_");
}

// name finds a word for each branch: what its joints' names share, else the robot's name
// if it is the only one, else its first joint.
function name(branch: string[], all: string[][], robot: string): string {
  if (all.length === 1) return robot || "joints";
  const shared = common(branch);
  const unique = shared !== "" && all.filter((b) => common(b) === shared).length === 1;
  return unique ? shared : bare(branch[0]!);
}

// complete gives joints without a limb one, and tips a chain to pull at where the
// description has no chains.
export function complete(info: RobotInfo): RobotInfo {
  const free = info.joints.filter((j) => j.resource === "" && !j.mimic);
  const limbs = new Map<string, string>(); // by joint
  const made: string[] = [];
  const parts = branches(info.urdf, new Set(free.map((j) => j.name)));
  const rest = free.map((j) => j.name).filter((n) => !parts.some((p) => p.includes(n)));
  for (const part of rest.length > 0 ? [...parts, rest] : parts) {
    const taken = (n: string) => made.includes(n) || info.groups.some((g) => g.resource && g.name === n);
    let word = name(part, parts, info.name);
    while (taken(word)) word += "_";
    made.push(word);
    for (const joint of part) limbs.set(joint, word);
  }
  const joints = info.joints.map((j): JointInfo => (limbs.has(j.name) ? { ...j, resource: limbs.get(j.name)! } : j));
  const groups = [
    ...info.groups,
    ...made.map((n) => ({ name: n, resource: true, branch: true, joints: joints.filter((j) => j.resource === n).map((j) => j.name), resources: [], tip: "" })),
  ];
  return { ...info, joints, groups, chains: info.chains.length > 0 ? info.chains : tips(info) };
}

// tips makes a chain for each group that ends at a link of its own: of several links
// behind the same joints one is enough, best one that is called a tool.
function tips(info: RobotInfo): ChainInfo[] {
  const found = new Map<string, ChainInfo>();
  const tool = /tool|tcp|ee\b|tip|hand|foot|flange/i;
  for (const g of info.groups) {
    if (g.tip === "" || g.joints.length === 0) continue;
    const key = g.joints.join();
    const before = found.get(key);
    if (!before || (tool.test(g.tip) && !tool.test(before.tip))) found.set(key, { name: g.name, joints: g.joints, tip: g.tip, support: "" });
  }
  return [...found.values()];
}
