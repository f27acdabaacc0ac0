// What the page knows of the identification of a robot's servos: it goes on while its view is closed.
import type { Connection, Goal } from "../ros/connection";
import type { ServoIdentFeedback, ServoIdentResult } from "../ros/messages";
import type { Robot } from "./robots.svelte";

const type = "poise_msgs/action/ServoIdent";

export interface Wanted {
  resources: string[];
  mounting: string;
  duration: number; // s, 0 is the server's
  amplitude: number; // rad, 0 is the server's
  sweeps: boolean;
  keep_models: boolean;
}

export class Ident {
  looked = $state.raw<ServoIdentResult | undefined>(); // pre-flight that passed
  found = $state.raw<ServoIdentResult | undefined>();
  feedback = $state.raw<ServoIdentFeedback | undefined>();
  refused = $state.raw<string[]>([]); // why not, a line each
  ended = $state(""); // how it ended, if not by being done
  busy = $state(""); // what goes on: looking, running
  private goal: Goal<ServoIdentResult> | undefined;

  async look(connection: Connection, robot: Robot, wanted: Wanted) {
    const how = await this.perform("looking", connection, robot, { ...wanted, pre_flight_only: true });
    if (how) this.looked = how;
  }

  async start(connection: Connection, robot: Robot, wanted: Wanted) {
    this.found = undefined;
    const how = await this.perform("running", connection, robot, { ...wanted, pre_flight_only: false });
    if (how) this.found = how;
  }

  cancel() {
    this.goal?.cancel();
  }

  private async perform(what: string, connection: Connection, robot: Robot, goal: object) {
    this.busy = what;
    this.refused = [];
    this.ended = "";
    this.looked = undefined;
    this.feedback = undefined;
    this.goal = connection.send<ServoIdentResult, ServoIdentFeedback>(robot.topic("servo_ident"), type, { ...goal, seed: 0 }, (f) => (this.feedback = f));
    const end = await this.goal.done;
    this.goal = undefined;
    this.busy = "";
    this.feedback = undefined;
    if (end.status === 4) return end.result;
    if (end.status === 5) this.ended = "cancelled: the robot came to rest, nothing was changed";
    else this.refused = end.explanations.length > 0 ? end.explanations.map((x) => x.text + (x.help ? `; ${x.help}` : "")) : [end.text];
    return undefined;
  }
}

const all = new WeakMap<Robot, Ident>();

// identOf is the identification of a robot.
export function identOf(robot: Robot): Ident {
  let ident = all.get(robot);
  if (!ident) all.set(robot, (ident = new Ident()));
  return ident;
}
