/** For texts of any length: enough to follow a short one into every nesting. */
const STEPS = 1_000_000;
/** About as many readings of each character as an honest script takes. */
const STEPS_A_CHARACTER = 5;

/** Thrown when reading a text would take more steps than it may. Never leaves the policy. */
export class TooIntricate extends Error {}

/**
 * The steps that reading a text may take, since the policy runs on the server's one event loop: a text made to be
 * slow to read would keep every other client waiting. Counted and not timed, so that the same text always gets the
 * same answer. A step is about a character looked at once.
 */
export class Budget {
  readonly most: number;
  spent = 0;

  /** @param length of the texts that are to be read, in characters */
  constructor(length: number) {
    this.most = STEPS + STEPS_A_CHARACTER * length;
  }

  /** To be called before the work. @throws TooIntricate */
  spend(steps: number): void {
    this.spent += steps;
    if (this.spent > this.most) throw new TooIntricate();
  }
}
