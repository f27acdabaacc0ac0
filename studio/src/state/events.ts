// Text commands that programs around the robot understand, as suggestions: any
// other may be written.
export const eventTypes: Record<string, { what: string; commands: string[] }> = {
  "eyes/emotion": {
    what: "a look, until the next one",
    commands: ["normal", "happy_look", "pleasure_look", "tender_look", "surprised_look", "scared_look", "very_scared_look", "begging_look", "sad_look", "unamused_look", "evil_look", "high_look", "raised_left_eyebrow_look", "raised_right_eyebrow_look", "green_eyes", "red_eyes", "reset"],
  },
  "eyes/action": { what: "something the eyes do once", commands: ["blink", "slow_blink", "eye_roll", "start_blinking", "stop_blinking"] },
  "voice/play_wav": { what: "a sound, by its name", commands: ["laugh", "sigh", "yawn", "shake", "scrape", "bump"] },
  "voice/say": { what: "words to speak", commands: ["hello"] },
  "contact/wait": { what: "the motion waits; options: limbs, timeout=5", commands: ["touch_down", "lift_off"] },
  "contact/impact": { what: "how limbs react to impacts from here on; options: limbs", commands: ["ignore", "hold", "soften", "retreat"] },
  "mouth/speech": { what: "the mouth moves as in speech", commands: ["begin", "end"] },
};
