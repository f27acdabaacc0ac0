// The motion being edited: the document, what was before it, and what the server
// says of it. Every edit is made by the server; the page keeps the results.
import { type Connection, Refused } from "../ros/connection";
import type { Answer, Curve, Finding, Motion, MotionForces, MotionOperation } from "../ros/messages";
import { type Remark, remark, silence } from "./words";

const keptSteps = 30; // undo steps that survive a reload

// Store keeps one document for one tab.
export interface Store { read(): string | null; write(text: string): void }

// Step is one thing to undo: an edit of the motion, or a pose of the robot.
interface Step { what: string; motion: Motion; pose?: Posed }

export type Pose = Record<string, number>;

interface Posed { before: Pose; after: Pose }

// act counts what hands do: a press with all its dragging is one, a key with its repeating
let act = 0;
addEventListener("pointerdown", () => act++, true);
addEventListener("keydown", (e) => e.repeat || act++, true);

// Conflict is a save of what somebody else saved meanwhile.
export interface Conflict { name: string; gone: boolean }


// File is what Save replaces: a motion on the server, as it was when read or written.
interface File { name: string; version: string }

interface Kept { motion: Motion; file: File; saved: string; undo: Step[]; redo: Step[] }

export interface Sampled { times: number[]; curves: Curve[]; findings: Finding[]; forces: MotionForces }

export type Edit = Partial<MotionOperation> & { op: string };

export function emptyMotion(): Motion {
  return {
    name: "",
    description: "",
    tags: [],
    start_pose: "",
    loop: false,
    joints: [],
    goal_time_tolerance: 0,
    columns: [],
    chains: [],
    order: [],
    points: [],
    events: [],
  };
}

export class Editor {
  motion = $state.raw<Motion>(emptyMotion());
  file = $state.raw<File>({ name: "", version: "" });
  private saved = $state(""); // the document as it is on the server; "" if it is not there
  undoSteps = $state.raw<Step[]>([]);
  redoSteps = $state.raw<Step[]>([]);
  selection = $state.raw<number[]>([]);
  step = $state(0.5); // s between a new row and the one before
  cursor = $state<number | undefined>(); // time at which new rows go, and the ghost stands
  sampled = $state.raw<Sampled | undefined>();
  trouble = $state.raw<Remark>(silence); // why the last edit was refused
  readonly dirty = $derived(JSON.stringify(this.motion) !== this.saved);
  conflict = $state.raw<Conflict | undefined>();
  place: (pose: Pose) => Promise<boolean> = async () => false; // puts the robot somewhere, for undo
  private posing = -1; // the act of the last pose
  private queue: Promise<unknown> = Promise.resolve();
  private sampling = 0;

  constructor(
    private readonly connection: Connection,
    private readonly store: Store,
  ) {
    this.recall();
  }

  // edit applies operations as one step that can be undone, in the order of the
  // calls: all of them or none.
  edit(what: string, ...operations: Edit[]): Promise<boolean> {
    const run = async () => {
      try {
        let next = this.motion;
        for (const operation of operations) {
          const full = { rows: [], time: 0, value: 0, names: [], values: [], texts: [], ...operation };
          const answer = await this.connection.call<Answer & { motion: Motion }>("/motions/edit", { motion: next, operation: full });
          next = answer.motion;
        }
        this.push(what, next);
        this.trouble = silence;
        return true;
      } catch (e) {
        this.trouble = remark(e);
        return false;
      }
    };
    return this.inTurn(run);
  }

  // rename changes the name under which the motion will be saved.
  rename(name: string) {
    this.push("rename", { ...this.motion, name: name.trim() });
  }

  private push(what: string, next: Motion) {
    if (JSON.stringify(next) === JSON.stringify(this.motion)) return;
    this.undoSteps = [...this.undoSteps, { what, motion: this.motion }];
    this.redoSteps = [];
    this.show(next);
  }

  private show(next: Motion) {
    this.motion = next;
    this.selection = this.selection.filter((row) => row < next.points.length);
    this.keep();
    void this.sample();
  }

  // posed notes that the robot was put somewhere by hand, as a step to undo: one for each
  // act, such as a drag.
  posed(what: string, before: Pose, after: Pose) {
    const last = this.undoSteps.at(-1);
    const goesOn = last?.pose && last.what === what && act === this.posing;
    this.posing = act;
    const step: Step = goesOn
      ? { ...last, pose: { before: { ...before, ...last.pose!.before }, after: { ...last.pose!.after, ...after } } }
      : { what, motion: this.motion, pose: { before, after } };
    this.undoSteps = [...(goesOn ? this.undoSteps.slice(0, -1) : this.undoSteps), step];
    this.redoSteps = [];
    this.keep();
  }

  undo(): Promise<boolean> {
    return this.inTurn(async () => {
      const step = this.undoSteps.at(-1);
      if (!step) return false;
      this.trouble = silence;
      if (step.pose && !(await this.place(step.pose.before))) return false;
      this.posing = -1;
      this.undoSteps = this.undoSteps.slice(0, -1);
      this.redoSteps = [...this.redoSteps, { ...step, motion: this.motion }];
      if (step.pose) this.keep();
      else this.show(step.motion);
      return true;
    });
  }

  redo(): Promise<boolean> {
    return this.inTurn(async () => {
      const step = this.redoSteps.at(-1);
      if (!step) return false;
      if (step.pose && !(await this.place(step.pose.after))) return false;
      this.redoSteps = this.redoSteps.slice(0, -1);
      this.undoSteps = [...this.undoSteps, { ...step, motion: this.motion }];
      if (step.pose) this.keep();
      else this.show(step.motion);
      return true;
    });
  }

  async undoAll() {
    while (this.undoSteps.length > 0 && (await this.undo()));
  }

  async redoAll() {
    while (this.redoSteps.length > 0 && (await this.redo()));
  }

  // inTurn does something after the edits that were asked for before.
  private inTurn(act: () => Promise<boolean>): Promise<boolean> {
    const done = this.queue.then(act);
    this.queue = done.catch(() => false);
    return done;
  }

  // open replaces everything by another document. Without a file it is not on the
  // server yet; an empty one need not be.
  open(motion: Motion, file: File = { name: "", version: "" }) {
    this.undoSteps = [];
    this.redoSteps = [];
    this.selection = [];
    this.cursor = undefined;
    this.file = file;
    this.saved = file.name !== "" || motion.points.length === 0 ? JSON.stringify(motion) : "";
    this.trouble = silence;
    this.show(motion);
  }

  async load(name: string) {
    const answer = await this.connection.call<Answer & { motion: Motion; version: string }>("/motions/get", { name });
    this.open(answer.motion, { name, version: answer.version });
  }

  // save writes the whole table. A name that is not that of the open file makes a
  // new file, and never replaces one.
  async save(name: string) {
    const motion = { ...this.motion, name };
    const version = name === this.file.name ? this.file.version : "";
    await this.put(motion, version);
  }

  private async put(motion: Motion, version: string) {
    try {
      const answer = await this.connection.call<Answer & { version: string }>("/motions/put", { motion, version });
      this.motion = motion;
      this.file = { name: motion.name, version: answer.version };
      this.saved = JSON.stringify(motion);
      this.conflict = undefined;
      this.keep();
    } catch (e) {
      if (!(e instanceof Refused) || !e.answer?.explanations.some((x) => x.code === "version_conflict")) throw e;
      this.conflict = { name: motion.name, gone: (await this.version(motion.name)) === "" };
    }
  }

  // theirs takes what is on the server instead; what was here is one step to undo.
  async theirs(name: string) {
    const answer = await this.connection.call<Answer & { motion: Motion; version: string }>("/motions/get", { name });
    this.push("take theirs", answer.motion);
    this.file = { name, version: answer.version };
    this.saved = JSON.stringify(answer.motion);
    this.conflict = undefined;
    this.keep();
  }

  // mine replaces what is on the server.
  async mine(name: string) {
    await this.put({ ...this.motion, name }, await this.version(name));
  }

  // version returns that of a motion on the server, empty if there is none.
  private async version(name: string): Promise<string> {
    try {
      return (await this.connection.call<Answer & { version: string }>("/motions/get", { name })).version;
    } catch (e) {
      if (e instanceof Refused && e.answer?.explanations.some((x) => x.code === "unknown_motion")) return "";
      throw e;
    }
  }

  // sample asks the server for curves and for what would break a limit.
  async sample() {
    const asked = ++this.sampling;
    if (this.motion.points.filter((p) => p.enabled).length < 2) {
      this.sampled = undefined;
      return;
    }
    try {
      const answer = await this.connection.call<Answer & Sampled>("/motions/sample", {
        motion: this.motion,
        period: 0,
        part: false,
        scale: 1,
        backward: false,
        forces: true,
      });
      if (asked === this.sampling) this.sampled = answer;
    } catch (e) {
      if (asked === this.sampling && e instanceof Refused) this.sampled = undefined;
    }
  }

  private keep() {
    const kept: Kept = {
      motion: this.motion,
      file: this.file,
      saved: this.saved,
      undo: this.undoSteps.slice(-keptSteps),
      redo: this.redoSteps.slice(-keptSteps),
    };
    try {
      this.store.write(JSON.stringify(kept));
    } catch {
      this.store.write(JSON.stringify({ ...kept, undo: [], redo: [] })); // no room for history
    }
  }

  private recall() {
    this.saved = JSON.stringify(this.motion);
    try {
      const kept = JSON.parse(this.store.read() ?? "null") as Kept | null;
      if (!kept?.file) return; // nothing, or of an older page
      this.motion = kept.motion;
      this.file = kept.file;
      this.saved = kept.saved;
      this.undoSteps = kept.undo;
      this.redoSteps = kept.redo;
    } catch {
      this.keep(); // unreadable: begin anew
    }
  }
}

// captured returns the joints of a row by name.
export function captured(motion: Motion, row: number | undefined): Record<string, number> | undefined {
  const point = row === undefined ? undefined : motion.points[row];
  if (!point) return undefined;
  const pose: Record<string, number> = {};
  motion.columns.forEach((name, i) => {
    const q = point.positions[i];
    if (typeof q === "number") pose[name] = q;
  });
  return pose;
}
