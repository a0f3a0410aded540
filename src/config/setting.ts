import type { Form } from './form.ts';

/** One thing this product can be told at its start: all there is to know about it, for reading and for the documentation. */
export interface Setting<Value> {
  /** Its place in the configuration file, such as `http.port`; null where it does not belong there. */
  readonly key: string | null;
  /** Its environment variable; null where it has none. */
  readonly variable: string | null;
  /** The option of the command line that gives it, such as `--port`. */
  readonly option?: string | undefined;
  readonly form: Form<Value>;
  readonly meaning: string;
  /** The default, in words. */
  readonly standard: string;
}

/** Keeps the exact types of the forms. */
export function defineSettings<const Settings extends Readonly<Record<string, Setting<unknown>>>>(
  settings: Settings,
): Settings {
  return settings;
}

/** Where values come from; what stands first outranks what follows. */
export const SOURCES = ['option', 'variable', 'file'] as const;
export type Source = (typeof SOURCES)[number];

/** A value with the name it was set under, for errors. */
export interface Found<Value> {
  /** Undefined where nobody has set it. */
  readonly value: Value | undefined;
  readonly name: string;
  /** Null where nobody has set it. */
  readonly source: Source | null;
}

/** Finds what was said of a setting. */
export type ReadSetting = <Value>(setting: Setting<Value>) => Found<Value>;

export interface SettingSources {
  /** By option name, such as `--port`. */
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** By key, such as `http.port`. */
  readonly file: ReadonlyMap<string, unknown>;
}

/** Reads settings: options first, then the environment, then the file. An empty variable counts as unset. */
export function settingReader({ options, environment, file }: SettingSources): ReadSetting {
  return <Value>({ key, variable, option, form }: Setting<Value>): Found<Value> => {
    const given = option === undefined ? undefined : options[option];
    if (option !== undefined && given !== undefined) {
      return { value: form.read(form.fromText(given), option), name: option, source: 'option' };
    }
    const inherited = variable === null ? undefined : environment[variable];
    if (variable !== null && inherited !== undefined && inherited !== '') {
      return { value: form.read(form.fromText(inherited), variable), name: variable, source: 'variable' };
    }
    if (key !== null && file.has(key)) {
      return { value: form.read(file.get(key), key), name: key, source: 'file' };
    }
    return { value: undefined, name: variable ?? key ?? '', source: null };
  };
}
