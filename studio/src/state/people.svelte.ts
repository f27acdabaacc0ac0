// Who else works with the robots. Every page tells its name and what it did last on a
// topic; whose a goal is the server says, by the name of the connection.
import { SvelteMap } from "svelte/reactivity";
import type { Connection } from "../ros/connection";
import type { Answer } from "../ros/messages";

// Said is what a page tells: its connection, the name that its user chose, what it did.
interface Said { level: number; name: string; message: string; hardware_id: string; values: [] }

interface Person { name: string; lastAction: string; at: number }

const topic = "/operators";
const type = "diagnostic_msgs/msg/DiagnosticStatus";
const look = 4000; // ms between looks at who is still there
const kept = "poise.studio.person";

export const stopped = "pressed Stop";

// guess names a page whose user did not.
function guess(): string {
  const browser = /Firefox|Edg|Chrome|Safari/.exec(navigator.userAgent)?.[0] ?? "browser";
  const system = /Android|iPad|iPhone|Windows|Mac OS|Linux/.exec(navigator.userAgent)?.[0];
  return system ? `${browser.replace("Edg", "Edge")} on ${system}` : browser;
}

export class People {
  name = $state(localStorage.getItem(kept) ?? guess());
  me = $state(""); // the name of our connection
  readonly others = new SvelteMap<string, Person>(); // by connection
  private lastAction = "";
  private at = 0;
  private readonly say: (said: Said) => void;

  constructor(private readonly connection: Connection) {
    this.say = connection.publisher<Said>(topic, type);
    connection.subscribe<Said>(topic, type, (said) => this.hear(said));
    setInterval(() => void this.count(), look);
  }

  // arrive is to be called when a connection has got its name.
  arrive(me: string) {
    if (me !== this.me) this.others.clear();
    this.me = me;
    this.tell();
  }

  rename(name: string) {
    this.name = name.trim().slice(0, 40) || guess();
    localStorage.setItem(kept, this.name);
    this.tell();
  }

  // did tells the others what was done here.
  did(what: string) {
    this.lastAction = what;
    this.at = performance.now();
    this.tell();
  }

  private tell() {
    if (this.me !== "" && this.connection.ros.isConnected) this.say({ level: 0, name: this.name, message: this.lastAction, hardware_id: this.me, values: [] });
  }

  private hear({ name, message, hardware_id: who }: Said) {
    if (who === "" || who === this.me) return;
    const known = this.others.get(who);
    this.others.set(who, { name, lastAction: message, at: known?.lastAction === message ? known.at : performance.now() });
    if (!known) this.tell(); // who is new has not heard of us
  }

  // count forgets those whose connection is gone.
  private async count() {
    if (this.others.size === 0 || document.hidden) return;
    try {
      const { publishers } = await this.connection.call<Answer & { publishers: string[] }>("/rosapi/publishers", { topic });
      for (const who of [...this.others.keys()]) if (!publishers.includes(who)) this.others.delete(who);
    } catch {
      // asked again
    }
  }

  // called returns how people speak of a connection.
  called(client: string): string {
    const person = this.others.get(client);
    if (!person) return client === "" ? "the server" : `another program (${client.split("/").at(-1)})`;
    const same = [...this.others.values()].filter((p) => p.name === person.name).length > 1 || person.name === this.name;
    return same ? `${person.name} (${client.split("/").at(-1)})` : person.name;
  }

  lastActionOf(client: string): string {
    return this.others.get(client)?.lastAction ?? "";
  }

  // stopper is who pressed Stop last, if that was somebody else.
  get stopper(): string {
    const [last] = [...this.others].filter(([, p]) => p.lastAction === stopped).sort(([, a], [, b]) => b.at - a.at);
    if (!last || (this.lastAction === stopped && this.at > last[1].at)) return "";
    return this.called(last[0]);
  }
}
