// The page's side of the wire: one rosbridge connection that heals by itself.
import { Ros, Topic } from "roslib";
import type { Answer, Explanation } from "./messages";

export type Link = "connecting" | "open" | "lost";

// Refused is an answer that says no, with the reason as the server gave it.
export class Refused extends Error {
  constructor(
    message: string,
    readonly answer?: Answer,
  ) {
    super(message);
  }
}

// reason returns what an error has to say to people.
export const reason = (e: unknown) => (e instanceof Error ? e.message : String(e));

// GoalEnd is how a goal ended: status as in action_msgs (4 succeeded, 5
// cancelled, 6 aborted or rejected).
export interface GoalEnd<Result> {
  accepted: boolean;
  status: number;
  result?: Result;
  text: string;
  explanations: Explanation[]; // the text as fields
}

export interface Goal<Result> {
  done: Promise<GoalEnd<Result>>;
  cancel(): void;
}

const firstRetry = 250; // ms
const longestRetry = 2000;

export class Connection {
  readonly ros = new Ros();
  private tries = 0;
  private serial = 0;
  private readonly waiting = new Map<string, (reason: string) => void>();

  constructor(
    private readonly url: string,
    private readonly changed: (link: Link) => void,
  ) {
    this.ros.on("connection", () => {
      this.tries = 0;
      this.changed("open");
    });
    this.ros.on("close", () => {
      this.changed("lost");
      for (const fail of [...this.waiting.values()]) fail("the connection was lost");
      const delay = Math.min(firstRetry * 2 ** this.tries++, longestRetry);
      setTimeout(() => this.connect(), delay);
    });
    this.ros.on("error", () => {}); // a close follows, and says the same
    this.changed("connecting");
    this.connect();
  }

  private connect() {
    this.ros.connect(this.url).catch(() => {}); // close tells
  }

  private next(kind: string) {
    return `${kind}:studio:${++this.serial}`;
  }

  // call asks a service; a response with success false is thrown as Refused.
  call<Response extends object>(service: string, args: object = {}, timeout = 10): Promise<Response> {
    const id = this.next("call_service");
    return new Promise((resolve, reject) => {
      if (!this.ros.isConnected) {
        reject(new Refused("there is no connection to the server"));
        return;
      }
      const end = () => {
        this.ros.off(id, heard);
        this.waiting.delete(id);
        clearTimeout(timer);
      };
      const fail = (reason: string, answer?: Answer) => {
        end();
        reject(new Refused(reason, answer));
      };
      const heard = (message: unknown) => {
        const { result, values } = message as { result: boolean; values: unknown };
        if (!result) return fail(String(values));
        const answer = values as Answer;
        if (answer.success === false) return fail(answer.message, answer);
        end();
        resolve(values as Response);
      };
      const timer = setTimeout(() => fail(`${service} did not answer within ${timeout} s`), timeout * 1000);
      this.waiting.set(id, fail);
      this.ros.on(id, heard);
      this.ros.callOnConnection({ op: "call_service", id, service, args } as never);
    });
  }

  // subscribe calls f with every message, also after the connection came back.
  subscribe<T>(name: string, messageType: string, f: (message: T) => void, throttle = 0): () => void {
    // a state is replaced by the next, events are not
    const topic = new Topic<T>({ ros: this.ros, name, messageType, throttle_rate: throttle, queue_length: throttle > 0 ? 1 : 100 });
    topic.subscribe(f);
    return () => topic.unsubscribe(f);
  }

  publisher<T>(name: string, messageType: string): (message: T) => void {
    const topic = new Topic<T>({ ros: this.ros, name, messageType });
    return (message) => topic.publish(message);
  }

  // send starts a goal. Whatever happens, done is fulfilled once.
  send<Result, Feedback>(action: string, type: string, goal: object, feedback?: (f: Feedback) => void): Goal<Result> {
    const id = this.next("send_action_goal");
    const done = new Promise<GoalEnd<Result>>((resolve) => {
      const end = (how: GoalEnd<Result>) => {
        this.ros.off(id, heard);
        this.waiting.delete(id);
        resolve(how);
      };
      const heard = (message: unknown) => {
        const m = message as { op: string; result: boolean; status: number; values: unknown; explanations?: Explanation[] };
        if (m.op === "action_feedback") feedback?.(m.values as Feedback);
        if (m.op !== "action_result") return;
        const explanations = m.explanations ?? [];
        if (!m.result) return end({ accepted: false, status: m.status, text: String(m.values), explanations });
        const result = m.values as Result & { error_string?: string; message?: string };
        end({ accepted: true, status: m.status, result, text: result.error_string ?? result.message ?? "", explanations });
      };
      if (!this.ros.isConnected) {
        end({ accepted: false, status: 6, text: "there is no connection to the server", explanations: [] });
        return;
      }
      this.waiting.set(id, (reason) => end({ accepted: true, status: 0, text: reason, explanations: [] }));
      this.ros.on(id, heard);
      this.ros.callOnConnection({ op: "send_action_goal", id, action, action_type: type, args: goal, feedback: !!feedback } as never);
    });
    return {
      done,
      cancel: () => this.ros.callOnConnection({ op: "cancel_action_goal", id, action } as never),
    };
  }
}
