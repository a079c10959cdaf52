// ajv on what everybody judges: node judge.mjs MODULES INSTANCES MILLIS. One line of JSON.
//
// The steps are those of bench/gate/src/judge.rs. CPU time is that of the whole process, so the
// threads of the garbage collector and of the compiler count.
import fs from 'node:fs';
import { createRequire } from 'node:module';

const [modules, instances, millis] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const addFormats = require('ajv-formats').default;
const dialects = { draft7: require('ajv').Ajv, draft2020: require('ajv/dist/2020.js').Ajv2020 };
const work = JSON.parse(fs.readFileSync(instances, 'utf8'));

const dialectOf = (schema) => (schema.$schema?.includes('draft-07') ? 'draft7' : 'draft2020');

function made(dialect, options) {
  const ajv = new dialects[dialect]({ strict: false, logger: false, ...options });
  addFormats(ajv);
  return ajv;
}

function now() {
  const used = process.cpuUsage();
  return (used.user + used.system) * 1e3;
}

// What a call gives is kept in reach, or the compiler would leave the call out.
let kept;
function cost(work) {
  const budget = Number(millis) * 1e6;
  for (let calls = 1; ;) {
    const before = now();
    for (let i = 0; i < calls; i++) kept = work();
    const took = now() - before;
    if (took >= budget) return { ns: took / calls, calls };
    calls = Math.ceil(calls * Math.min(10, Math.max(2, (budget * 1.2) / Math.max(took, 1))));
  }
}

const rows = [];
const row = (validator, name, step, { ns, calls }, each = 1) =>
  rows.push({ validator, case: name, step, ns: ns / each, calls: calls * each });

function judge(schema) {
  const dialect = dialectOf(schema);
  const first = made(dialect).compile(schema);
  const all = made(dialect, { allErrors: true });
  const every = all.compile(schema);
  return {
    admits: (text) => first(JSON.parse(text)),
    first,
    told: (text) => (every(JSON.parse(text)) ? '' : all.errorsText(every.errors, { separator: '\n' })),
  };
}

// An instance of ajv keeps every schema it compiled, so this one is told to forget.
const compilers = { draft7: made('draft7'), draft2020: made('draft2020') };
function compile(schema) {
  const ajv = compilers[dialectOf(schema)];
  const fresh = structuredClone(schema);
  const validate = ajv.compile(fresh);
  ajv.removeSchema(fresh);
  return validate;
}

let verdicts = '';
for (const { name, schema, valid, wrong } of work.cases) {
  const { admits, first, told } = judge(schema);
  const parsed = JSON.parse(valid);
  verdicts += (admits(valid) ? '1' : '0') + (admits(wrong) ? '1' : '0');
  row('ajv', name, 'whole', cost(() => admits(valid)));
  row('ajv', name, 'told', cost(() => told(wrong)));
  row('ajv', name, 'alone', cost(() => first(parsed)));
  row('ajv', name, 'parse', cost(() => JSON.parse(valid)));
  row('ajv', name, 'compile', cost(() => compile(schema)));
}

const right = [];
const refused = [];
for (const { schema, instances } of work.tools) {
  const { admits, told } = judge(schema);
  for (const { text, admitted } of instances) {
    verdicts += admits(text) ? '1' : '0';
    (admitted ? right : refused).push(admitted ? () => admits(text) : () => told(text));
  }
}
if (work.tools.length) {
  const each = (calls) => () => calls.forEach((call) => (kept = call()));
  row('ajv', 'real', 'whole', cost(each(right)), right.length);
  row('ajv', 'real', 'told', cost(each(refused)), refused.length);
  row('ajv', 'real', 'compile', cost(() => work.tools.forEach(({ schema }) => (kept = compile(schema)))), work.tools.length);
}

const version = require('ajv/package.json').version;
console.log(JSON.stringify({ rows, verdicts: { ajv: verdicts }, versions: { ajv: version, node: process.versions.node } }));
