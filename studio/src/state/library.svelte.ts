// The motions that the server has.
import { type Connection, reason } from "../ros/connection";
import type { Answer, MotionInfo } from "../ros/messages";

export class Library {
  motions = $state.raw<MotionInfo[]>([]);
  trouble = $state("");
  known = $state(false); // the list came at least once
  private again: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly connection: Connection) {}

  async refresh() {
    try {
      const answer = await this.connection.call<Answer & { motions: MotionInfo[] }>("/motions/list");
      this.motions = answer.motions;
      this.trouble = "";
      this.known = true;
    } catch (e) {
      this.trouble = reason(e);
      // a busy server is asked again; of a lost one we hear when it is back
      clearTimeout(this.again);
      this.again = setTimeout(() => this.connection.ros.isConnected && void this.refresh(), 2000);
    }
  }

  find(name: string): MotionInfo | undefined {
    return this.motions.find((m) => m.name === name);
  }

  async remove(name: string, version: string) {
    await this.connection.call<Answer>("/motions/delete", { name, version });
    await this.refresh();
  }
}
