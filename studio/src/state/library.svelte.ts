// The motions that the server has.
import { type Connection, reason } from "../ros/connection";
import type { Answer, MotionInfo } from "../ros/messages";

export class Library {
  motions = $state.raw<MotionInfo[]>([]);
  trouble = $state("");

  constructor(private readonly connection: Connection) {}

  async refresh() {
    try {
      const answer = await this.connection.call<Answer & { motions: MotionInfo[] }>("/motions/list");
      this.motions = answer.motions;
      this.trouble = "";
    } catch (e) {
      this.trouble = reason(e);
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
