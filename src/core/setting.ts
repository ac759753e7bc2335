import * as z from 'zod';

/**
 * One setting, declared once: the environment variable, the YAML key where the specification names one,
 * the type and the sentence that the generated documents print.
 */
export interface Setting<T> {
  readonly env: string;
  /** Dotted path in the YAML file; absent where a setting is read from the environment alone. */
  readonly yaml?: string;
  /** The type in words, for messages and documents. */
  readonly expected: string;
  readonly meaning: string;
  readonly required: boolean;
  /** A secret is never echoed, and is redacted from all that leaves the process. */
  readonly secret: boolean;
  /** Whether SIGHUP puts a new value in force; all others need a restart. */
  readonly reloadable: boolean;
  /** The default as written in the documents; '' for none. */
  readonly defaultText: string;
  readonly example?: string;
  readonly fallback: T | undefined;
  /** From the environment's text. Throws an Error that says what was expected. */
  fromText(text: string): T;
  /** From a parsed YAML value. Throws an Error that says what was expected. */
  fromYaml(value: unknown): T;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a group holds settings of any type; SettingsOf recovers each
export type SettingGroup = Record<string, Setting<any>>;

export type SettingsOf<Group extends SettingGroup> = {
  [Name in keyof Group]: Group[Name] extends Setting<infer T> ? T : never;
};

interface Common<T> {
  env: string;
  yaml?: string;
  meaning: string;
  default?: T;
  example?: string;
  secret?: boolean;
  reloadable?: boolean;
}

function make<T>(
  options: Common<T>,
  expected: string,
  parse: Pick<Setting<T>, 'fromText' | 'fromYaml'>,
  toText: (value: T) => string,
): Setting<T> {
  return {
    env: options.env,
    ...(options.yaml !== undefined && { yaml: options.yaml }),
    ...(options.example !== undefined && { example: options.example }),
    expected,
    meaning: options.meaning,
    required: false,
    secret: options.secret ?? false,
    reloadable: options.reloadable ?? false,
    defaultText: options.default === undefined ? '' : toText(options.default),
    fallback: options.default,
    ...parse,
  };
}

/** Parses with a zod schema; the thrown message is what was expected, never the value (it may be a secret). */
function check<T>(schema: z.ZodType<T>, value: unknown, expected: string): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Error(`expected ${expected}`);
  return parsed.data;
}

function string(options: Common<string> & { expected?: string; pattern?: RegExp }): Setting<string> {
  const expected = options.expected ?? 'text';
  const schema = options.pattern ? z.string().regex(options.pattern) : z.string();
  const parse = (value: unknown) => check(schema, value, expected);
  return make(options, expected, { fromText: parse, fromYaml: parse }, String);
}

/** A secret that the server cannot do without; `load` reports all missing ones together. */
function requiredSecret(options: Omit<Common<string>, 'default' | 'secret'>): Setting<string> {
  return { ...string({ ...options, secret: true }), required: true };
}

function integer(options: Common<number> & { min: number; max: number }): Setting<number> {
  const expected = `a whole number from ${options.min} to ${options.max}`;
  const schema = z.int().min(options.min).max(options.max);
  return make(
    options,
    expected,
    {
      fromText: (text) => check(schema, /^\d+$/.test(text) ? Number(text) : Number.NaN, expected),
      fromYaml: (value) => check(schema, value, expected),
    },
    String,
  );
}

function boolean(options: Common<boolean>): Setting<boolean> {
  const expected = 'true or false';
  return make(
    options,
    expected,
    {
      fromText: (text) => {
        if (text === 'true') return true;
        if (text === 'false') return false;
        throw new Error(`expected ${expected}`);
      },
      fromYaml: (value) => check(z.boolean(), value, expected),
    },
    String,
  );
}

function list(options: Common<string[]> & { expected?: string; pattern?: RegExp }): Setting<string[]> {
  const expected = options.expected ?? 'a comma-separated list';
  const entry = options.pattern ? z.string().regex(options.pattern) : z.string().min(1);
  const schema = z.array(entry);
  return make(
    options,
    expected,
    {
      fromText: (text) => {
        const entries = text.split(',').map((part) => part.trim());
        return check(
          schema,
          entries.filter((part) => part !== ''),
          expected,
        );
      },
      fromYaml: (value) => check(schema, value, options.yaml ? 'a list of strings' : expected),
    },
    (value) => value.join(','),
  );
}

function choice<const T extends string>(options: Common<T> & { of: readonly T[] }): Setting<T> {
  const expected = `one of ${options.of.join(', ')}`;
  const schema = z.enum(options.of) as unknown as z.ZodType<T>;
  const parse = (value: unknown) => check(schema, value, expected);
  return make(options, expected, { fromText: parse, fromYaml: parse }, String);
}

/** A JSON text, checked by a schema. */
function json<T>(options: Common<T> & { schema: z.ZodType<T>; expected: string }): Setting<T> {
  return make(
    options,
    options.expected,
    {
      fromText: (text) => {
        let value: unknown;
        try {
          value = JSON.parse(text);
        } catch {
          throw new Error(`expected ${options.expected}; this is not valid JSON`);
        }
        return check(options.schema, value, options.expected);
      },
      fromYaml: (value) => check(options.schema, value, options.expected),
    },
    (value) => JSON.stringify(value),
  );
}

/** The kinds of settings there are. */
export const setting = { string, requiredSecret, integer, boolean, list, choice, json };
