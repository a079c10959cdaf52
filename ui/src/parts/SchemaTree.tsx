// A schema as a list that can be read: names, types, bounds, descriptions.

import { bounds, members, resolve, type Schema, typesOf, variants } from "../schema/read";

const DEEPEST = 8;

export function SchemaTree({ schema, root, depth = 0 }: { schema: Schema; root?: Schema; depth?: number }) {
  const top = root ?? schema;
  if (typeof schema === "boolean") return <p>{schema ? "any value" : "no value at all"}</p>;
  const whole = resolve(schema, top);
  const own = members(whole);
  const items = whole.items as Schema | undefined;
  const either = variants(whole);
  if (depth > DEEPEST) return <p class="empty">deeper than is shown here</p>;
  return (
    <div class="schema">
      {own.length > 0 && (
        <ul>
          {own.map((member) => (
            <li key={member.name}>
              <Line name={member.name} schema={member.schema} root={top} isRequired={member.isRequired} />
              <Below schema={member.schema} root={top} depth={depth} />
            </li>
          ))}
        </ul>
      )}
      {items !== undefined && (
        <ul>
          <li>
            <Line name="each element" schema={items} root={top} isRequired={false} />
            <Below schema={items} root={top} depth={depth} />
          </li>
        </ul>
      )}
      {either.length > 0 && (
        <ol class="variants">
          {either.map((one, i) => (
            <li key={i}>
              <Line name={`variant ${i + 1}`} schema={one} root={top} isRequired={false} />
              <Below schema={one} root={top} depth={depth} />
            </li>
          ))}
        </ol>
      )}
      {own.length === 0 && items === undefined && either.length === 0 && depth === 0 && (
        <Line name="value" schema={schema} root={top} isRequired={false} />
      )}
    </div>
  );
}

function Line({
  name,
  schema,
  root,
  isRequired,
}: {
  name: string;
  schema: Schema;
  root: Schema;
  isRequired: boolean;
}) {
  const whole = resolve(schema, root);
  const types = typesOf(whole);
  return (
    <p>
      <code class="key">{name}</code> {isRequired && <b>required</b>}{" "}
      <span class="word">{types.join(" or ") || "any value"}</span>{" "}
      {bounds(whole).map((bound) => (
        <span key={bound} class="bound">
          {bound}
        </span>
      ))}
      {typeof whole.description === "string" && <span class="description"> {whole.description}</span>}
    </p>
  );
}

function Below({ schema, root, depth }: { schema: Schema; root: Schema; depth: number }) {
  const whole = resolve(schema, root);
  if (!whole.properties && whole.items === undefined && variants(whole).length === 0) return null;
  if (depth >= DEEPEST) return <p class="empty">deeper than is shown here</p>;
  if (depth >= 2) {
    return (
      <details>
        <summary>more</summary>
        <SchemaTree schema={schema} root={root} depth={depth + 1} />
      </details>
    );
  }
  return <SchemaTree schema={schema} root={root} depth={depth + 1} />;
}
