// What the page knows of a robot that walks, and how it leads it: a velocity is told while something is held, and not a
// moment longer.
import type { Connection, Goal } from "../ros/connection";
import type { BalanceState, FootstepsState, PlannedFootstep, Twist, Vector3 } from "../ros/messages";
import type { Robot } from "./robots.svelte";

const every = 100; // ms between velocities; each counts for 500
const keptSteps = 40;
const keptTrail = 150;

export interface Velocity { x: number; y: number; yaw: number } // m/s ahead and to the left, rad/s to the left
export const still: Velocity = { x: 0, y: 0, yaw: 0 };

export class Walking {
  shown = $state(false); // its view is open
  steps = $state.raw<PlannedFootstep[]>([]);
  done = $state.raw<Vector3[]>([]); // footsteps that were taken, oldest first
  trail = $state.raw<Vector3[]>([]); // of the zero-moment point, oldest first
  capture = $state.raw<Vector3 | undefined>();
  wanted = $state.raw<Velocity>(still); // what is told now
  asked = $state(false); // this page has switched it on
  rising = $state(false); // this page lets it get up
  why = $state(""); // it was refused, or ended
  private goal: Goal<{ message?: string }> | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;
  private swinging = new Map<string, Vector3>();

  constructor(private readonly robot: Robot) {}

  // listen hears what the view shows, until it is closed.
  listen(connection: Connection): () => void {
    const ends = [
      connection.subscribe<FootstepsState>(this.robot.topic("footsteps_planned"), "poise_msgs/msg/FootstepsState", (m) => this.take(m), 50),
      connection.subscribe<BalanceState>(this.robot.topic("balance_state"), "poise_msgs/msg/BalanceState", (m) => this.balance(m), 50),
    ];
    this.shown = true;
    return () => {
      for (const end of ends) end();
      this.shown = false;
      this.steps = [];
      this.capture = undefined;
    };
  }

  private take(m: FootstepsState) {
    const now = new Map(m.steps.filter((s) => s.swinging).map((s) => [s.limb, { x: s.x, y: s.y, z: s.z }]));
    const landed = [...this.swinging].filter(([limb]) => !now.has(limb)).map(([, at]) => at);
    this.swinging = now;
    if (landed.length > 0) this.done = [...this.done, ...landed].slice(-keptSteps);
    this.steps = m.steps;
  }

  private balance(m: BalanceState) {
    this.capture = m.carried ? m.capture_point : undefined;
    const last = this.trail.at(-1);
    if (m.carried && !(last && Math.hypot(last.x - m.zmp.x, last.y - m.zmp.y) < 0.001)) this.trail = [...this.trail, m.zmp].slice(-keptTrail);
  }

  clear() {
    this.done = [];
    this.trail = [];
  }

  // lead tells a velocity until it is told another one; still lets the robot stand.
  lead(connection: Connection, v: Velocity, gait: string) {
    const moves = v.x !== 0 || v.y !== 0 || v.yaw !== 0;
    if (!moves && this.timer === undefined) return;
    if (moves && !this.goal) this.begin(connection);
    const velocity = connection.publisher<Twist>(this.robot.topic("cmd_vel"), "geometry_msgs/msg/Twist");
    const choice = connection.publisher<{ data: string }>(this.robot.topic("controllers/walk/gait"), "std_msgs/msg/String");
    const tell = () => {
      choice({ data: gait });
      velocity({ linear: { x: v.x, y: v.y, z: 0 }, angular: { x: 0, y: 0, z: v.yaw } });
    };
    clearInterval(this.timer);
    this.timer = moves ? setInterval(tell, every) : undefined;
    this.wanted = v;
    tell();
  }

  // begin switches the controller on, for this page.
  private begin(connection: Connection) {
    const goal = connection.send<{ message?: string }, object>(this.robot.topic("controllers/walk/set_operational"), "resource_control_msgs/action/SetOperational", { operational: true, resources: [] });
    this.goal = goal;
    this.asked = true;
    this.why = "";
    void goal.done.then((end) => {
      clearInterval(this.timer);
      this.timer = undefined;
      this.goal = undefined;
      this.wanted = still;
      this.asked = false;
      if (end.status !== 5) this.why = end.text;
    });
  }

  // getUp brings a robot that lies back on its feet; its inertial unit tells how it lies.
  getUp(connection: Connection) {
    const goal = connection.send<{ message?: string }, object>(this.robot.topic("get_up"), "text_msgs/action/TextAction", { command: { type: "get_up", command: "", options: "" } });
    this.rising = true;
    this.why = "";
    void goal.done.then((end) => {
      this.rising = false;
      if (end.status !== 4 && end.status !== 5) this.why = end.text;
    });
  }

  // end lets the robot stand and gives its legs back.
  end() {
    this.goal?.cancel();
  }
}
