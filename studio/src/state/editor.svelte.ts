// The motion being edited: the document, what was before it, and what the server
// says of it. Every edit is made by the server; the page keeps the results.
import { type Connection, Refused } from "../ros/connection";
import type { Answer, Curve, Finding, Motion, MotionOperation } from "../ros/messages";

const storeKey = "poise.studio.editor";
const keptSteps = 30; // undo steps that survive a reload

interface Step { what: string; motion: Motion }

interface Kept { motion: Motion; version: string; saved: string; undo: Step[]; redo: Step[] }

export interface Sampled { times: number[]; curves: Curve[]; findings: Finding[] }

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
  version = $state(""); // of the file that Save replaces; "" is none
  private saved = $state(""); // the document as it is on the server
  undoSteps = $state.raw<Step[]>([]);
  redoSteps = $state.raw<Step[]>([]);
  selection = $state.raw<number[]>([]);
  cursor = $state<number | undefined>(); // time at which new rows go, and the ghost stands
  sampled = $state.raw<Sampled | undefined>();
  trouble = $state(""); // why the last edit was refused
  private queue: Promise<unknown> = Promise.resolve();
  private sampling = 0;

  constructor(private readonly connection: Connection) {
    this.recall();
  }

  get dirty(): boolean {
    return JSON.stringify(this.motion) !== this.saved;
  }

  // edit applies one operation, in the order of the calls.
  edit(what: string, operation: Partial<MotionOperation> & { op: string }): Promise<boolean> {
    const run = async () => {
      const full = { rows: [], time: 0, value: 0, names: [], values: [], texts: [], ...operation };
      try {
        const answer = await this.connection.call<Answer & { motion: Motion }>("/motions/edit", {
          motion: this.motion,
          operation: full,
        });
        this.push(what, answer.motion);
        this.trouble = "";
        return true;
      } catch (e) {
        this.trouble = e instanceof Error ? e.message : String(e);
        return false;
      }
    };
    const done = this.queue.then(run, run);
    this.queue = done;
    return done;
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

  undo() {
    const step = this.undoSteps.at(-1);
    if (!step) return;
    this.undoSteps = this.undoSteps.slice(0, -1);
    this.redoSteps = [...this.redoSteps, { what: step.what, motion: this.motion }];
    this.show(step.motion);
  }

  redo() {
    const step = this.redoSteps.at(-1);
    if (!step) return;
    this.redoSteps = this.redoSteps.slice(0, -1);
    this.undoSteps = [...this.undoSteps, { what: step.what, motion: this.motion }];
    this.show(step.motion);
  }

  // open replaces everything by a document that is on the server, or by a new one.
  open(motion: Motion, version: string) {
    this.undoSteps = [];
    this.redoSteps = [];
    this.selection = [];
    this.cursor = undefined;
    this.version = version;
    this.saved = JSON.stringify(motion);
    this.trouble = "";
    this.show(motion);
  }

  async load(name: string) {
    const answer = await this.connection.call<Answer & { motion: Motion; version: string }>("/motions/get", { name });
    this.open(answer.motion, answer.version);
  }

  // save writes the whole table. A name that is not that of the open file makes a
  // new file, and never replaces one.
  async save(name: string) {
    const motion = { ...this.motion, name };
    const version = name === this.motion.name ? this.version : "";
    const answer = await this.connection.call<Answer & { version: string }>("/motions/put", { motion, version });
    this.motion = motion;
    this.version = answer.version;
    this.saved = JSON.stringify(motion);
    this.keep();
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
      });
      if (asked === this.sampling) this.sampled = answer;
    } catch (e) {
      if (asked === this.sampling && e instanceof Refused) this.sampled = undefined;
    }
  }

  private keep() {
    const kept: Kept = {
      motion: this.motion,
      version: this.version,
      saved: this.saved,
      undo: this.undoSteps.slice(-keptSteps),
      redo: this.redoSteps.slice(-keptSteps),
    };
    try {
      localStorage.setItem(storeKey, JSON.stringify(kept));
    } catch {
      localStorage.setItem(storeKey, JSON.stringify({ ...kept, undo: [], redo: [] })); // no room for history
    }
  }

  private recall() {
    try {
      const kept = JSON.parse(localStorage.getItem(storeKey) ?? "null") as Kept | null;
      if (!kept) {
        this.saved = JSON.stringify(this.motion);
        return;
      }
      this.motion = kept.motion;
      this.version = kept.version;
      this.saved = kept.saved;
      this.undoSteps = kept.undo;
      this.redoSteps = kept.redo;
    } catch {
      localStorage.removeItem(storeKey); // of an older page
    }
  }
}
