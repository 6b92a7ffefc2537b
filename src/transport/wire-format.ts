/**
 * The text of what crosses the worker port: an effect one way, facts and chatter the other. It is
 * JSON with a version; schemas/ has its schemas, made from the types (scripts/type-schema.ts). A
 * reader accepts unknown fields and refuses an unknown version: a field may be added without a new
 * version, a changed meaning needs one.
 *
 * Nothing that starts with the program imports this file: zod takes a while to load.
 */

import { z } from 'zod';
import effectJson from '../../schemas/effect.schema.json' with { type: 'json' };
import messageJson from '../../schemas/message.schema.json' with { type: 'json' };
import { OperationalError } from '../base/errors.ts';
import { parseJson } from '../base/parse-json.ts';
import type { Effect, Message } from '../model/effect.ts';

const WIRE_VERSION = 1;

const EFFECT = schemaOf<Effect>(effectJson);
const MESSAGE = schemaOf<Message>(messageJson);

function schemaOf<T>(json: object): z.ZodType<T> {
  return z.fromJSONSchema(json as z.core.JSONSchema.JSONSchema) as z.ZodType<T>;
}

/** An effect on its way to a worker. */
export function encodeEffect(effect: Effect): string {
  return JSON.stringify({ version: WIRE_VERSION, effect });
}

export function decodeEffect(text: string): Effect {
  return decode(text, 'an effect', z.looseObject({ effect: EFFECT })).effect;
}

/** A fact or chatter on its way to the engine. */
export function encodeMessage(message: Message): string {
  return JSON.stringify({ version: WIRE_VERSION, message });
}

export function decodeMessage(text: string): Message {
  return decode(text, 'a message', z.looseObject({ message: MESSAGE })).message;
}

function decode<T>(text: string, what: string, schema: z.ZodType<T>): T {
  const { data: tag } = z.looseObject({ version: z.number() }).safeParse(parseJson(text));
  if (tag === undefined) throw new OperationalError(`This is not ${what} of Landfast: no version.`);
  if (tag.version !== WIRE_VERSION) {
    throw new OperationalError(
      `This is ${what} of version ${tag.version}; this Landfast reads version ${WIRE_VERSION}.`,
      { remedy: 'Use the same version of Landfast on both sides.' },
    );
  }
  const { data, error } = schema.safeParse(tag);
  if (error !== undefined) {
    throw new OperationalError(`This is not ${what} of Landfast: ${z.prettifyError(error)}`);
  }
  return data;
}
