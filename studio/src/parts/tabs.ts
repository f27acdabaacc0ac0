// The views beside the picture, each a tab. A new view (Plan …) is one line here and one component; docs/studio-layout.md says what it may
// rely on.
import type { Component } from "svelte";
import type { Connection } from "../ros/connection";
import type { Editor } from "../state/editor.svelte";
import type { Player } from "../state/player.svelte";
import type { Robots } from "../state/robots.svelte";
import type { Reader } from "../state/words";
import Controllers from "./Controllers.svelte";
import Dynamics from "./Dynamics.svelte";
import Ident from "./Ident.svelte";
import KeyPoints from "./KeyPoints.svelte";
import Levels from "./Levels.svelte";
import Network from "./Network.svelte";
import Physics from "./Physics.svelte";
import Walk from "./Walk.svelte";

// Space is what every view can use: the graph, and what the page knows and does.
export interface Space {
  readonly connection: Connection;
  readonly robots: Robots;
  readonly editor: Editor;
  readonly player: Player;
  readonly reader: Reader; // words and units
  readonly online: boolean;
}

export interface Tab {
  name: string;
  about: string; // its tooltip
  view: Component<{ space: Space }>;
  here?: (robots: Robots) => boolean; // whether this robot has it; absent is yes
}

export const tabs: Tab[] = [
  { name: "Key points", about: "the rows of the motion: times, labels, marks, what carries", view: KeyPoints },
  { name: "Controllers", about: "who has, waits for and was denied which resource; start, stop and switch controllers", view: Controllers },
  { name: "Dynamics", about: "torques and forces, the cycle that drives each limb, and how stiff it is", view: Dynamics },
  { name: "Levels", about: "what each level of cycle 2 could not do, which rows hold it and who asked for it: now, before, and from a recording", view: Levels, here: (robots) => robots.feet.length > 0 },
  { name: "Ident", about: "find the models of servos by moving them: pre-flight, motion, verdict and curves", view: Ident },
  { name: "Physics", about: "forces, pushes, the ground and time of a robot with mass", view: Physics, here: (robots) => robots.withMass !== undefined },
  { name: "Walk", about: "lead a robot on its legs by a pad or the keys W A S D; footsteps on the ground", view: Walk, here: (robots) => robots.all.some((r) => r.status?.controllers.some((c) => c.kind === "walk")) },
  { name: "Network", about: "who else is in the ROS 2 network, what they write and read, and what does not match", view: Network },
];
