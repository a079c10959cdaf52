// A form made from a schema, beside the JSON that it writes. The JSON is what counts: the form
// shows of it what it can.

import { scan } from "../json/scan";
import { edited, valueAt } from "../schema/form";
import { bounds, members, resolve, type Schema, typesOf, variants } from "../schema/read";

export function SchemaForm({
  schema,
  text,
  onText,
}: {
  schema: Schema;
  text: string;
  onText: (text: string) => void;
}) {
  const fault = scan(text).fault;
  return (
    <div class="form">
      <fieldset disabled={fault !== undefined}>
        <legend>Arguments</legend>
        <Fields schema={schema} root={schema} pointer="" text={text} onText={onText} depth={0} />
      </fieldset>
      <label>
        as JSON
        <textarea
          rows={8}
          spellcheck={false}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      </label>
      {fault && (
        <p class="fault" role="status">
          line {fault.line}, column {fault.column}: {fault.message}
        </p>
      )}
    </div>
  );
}

interface FieldsProps {
  schema: Schema;
  root: Schema;
  pointer: string;
  text: string;
  onText: (text: string) => void;
  depth: number;
}

function Fields({ schema, root, pointer, text, onText, depth }: FieldsProps) {
  const whole = resolve(schema, root);
  const own = members(whole);
  const either = variants(whole);
  if (own.length === 0 && either.length > 0) {
    return <Variants list={either} root={root} pointer={pointer} text={text} onText={onText} depth={depth} />;
  }
  if (own.length === 0)
    return (
      <p class="empty">{depth === 0 ? "No declared arguments; write JSON below." : "write JSON below"}</p>
    );
  return (
    <>
      {own.map((member) => {
        const at = `${pointer}/${member.name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        return (
          <Field
            key={at}
            name={member.name}
            schema={member.schema}
            root={root}
            pointer={at}
            text={text}
            onText={onText}
            depth={depth}
            isRequired={member.isRequired}
          />
        );
      })}
    </>
  );
}

function Variants({
  list,
  root,
  pointer,
  text,
  onText,
  depth,
}: {
  list: Schema[];
  root: Schema;
  pointer: string;
  text: string;
  onText: (text: string) => void;
  depth: number;
}) {
  // The first variant whose required members are all there, else the first.
  const fits = list.findIndex((one) => {
    const required = (resolve(one, root).required ?? []) as string[];
    return required.length > 0 && required.every((name) => valueAt(text, `${pointer}/${name}`) !== undefined);
  });
  const at = Math.max(0, fits);
  const choose = (i: number): void => {
    const required = (resolve(list[i], root).required ?? []) as string[];
    let next = edited(text, pointer, "{}");
    for (const name of required) next = edited(next, `${pointer}/${name}`, "null");
    onText(next);
  };
  return (
    <fieldset>
      <legend>one of these</legend>
      <select aria-label="Variant" value={at} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {list.map((one, i) => {
          const whole = resolve(one, root);
          return (
            <option key={i} value={i}>
              {String(whole.title ?? whole.description ?? `variant ${i + 1}`).slice(0, 60)}
            </option>
          );
        })}
      </select>
      {depth < 6 && (
        <Fields
          schema={list[at]}
          root={root}
          pointer={pointer}
          text={text}
          onText={onText}
          depth={depth + 1}
        />
      )}
    </fieldset>
  );
}

function Field({
  name,
  schema,
  root,
  pointer,
  text,
  onText,
  depth,
  isRequired,
}: FieldsProps & { name: string; isRequired: boolean }) {
  const whole = resolve(schema, root);
  const types = typesOf(whole).filter((type) => type !== "null");
  const now = valueAt(text, pointer);
  const set = (value: string | undefined): void => onText(edited(text, pointer, value));
  const hint = [typeof whole.description === "string" ? whole.description : "", ...bounds(whole)]
    .filter((one) => one !== "")
    .join(" · ");
  const label = (
    <>
      <code>{name}</code> {isRequired ? <b>required</b> : null}
    </>
  );
  if (Array.isArray(whole.enum)) {
    return (
      <label class="field">
        {label}
        <select
          value={now ?? ""}
          onChange={(event) => set(event.currentTarget.value === "" ? undefined : event.currentTarget.value)}
        >
          <option value="">(left out)</option>
          {whole.enum.map((one) => {
            const written = JSON.stringify(one);
            return (
              <option key={written} value={written}>
                {String(one)}
              </option>
            );
          })}
        </select>
        <small>{hint}</small>
      </label>
    );
  }
  if (types.length === 1 && types[0] === "boolean") {
    return (
      <label class="field">
        {label}
        <select
          value={now ?? ""}
          onChange={(event) => set(event.currentTarget.value === "" ? undefined : event.currentTarget.value)}
        >
          <option value="">(left out)</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
        <small>{hint}</small>
      </label>
    );
  }
  if (types.length === 1 && types[0] === "object" && whole.properties && depth < 6) {
    return (
      <fieldset>
        <legend>
          {name} {isRequired && "(required)"}
        </legend>
        <Fields schema={schema} root={root} pointer={pointer} text={text} onText={onText} depth={depth + 1} />
      </fieldset>
    );
  }
  const isText = types.length === 1 && types[0] === "string";
  const isNumber = types.length === 1 && (types[0] === "number" || types[0] === "integer");
  const shown = now === undefined ? "" : isText && now.startsWith('"') ? (JSON.parse(now) as string) : now;
  const write = (typed: string): void => {
    if (typed === "") set(undefined);
    else if (isText) set(JSON.stringify(typed));
    // What is typed otherwise has to be JSON; what is not stays a text, and the gate will say so.
    else set(scan(typed).doc ? typed : JSON.stringify(typed));
  };
  return (
    <label class="field">
      {label}
      <input
        value={shown}
        inputMode={isNumber ? "decimal" : "text"}
        placeholder={isText ? "" : isNumber ? "a number" : "JSON"}
        onInput={(event) => write(event.currentTarget.value)}
      />
      <small>{hint}</small>
    </label>
  );
}
