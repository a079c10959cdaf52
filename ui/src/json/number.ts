// Numbers by what they are worth, however they are written, without floats.

/** `1.50e3` and `1500` give the same text. */
export function canonicalNumber(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!match) return text;
  const [, sign, whole, fraction = "", exponent = "0"] = match;
  let digits = whole + fraction;
  const lead = /^0*/.exec(digits)?.[0].length ?? 0;
  digits = digits.slice(lead);
  const tail = /0*$/.exec(digits)?.[0].length ?? 0;
  const kept = digits.slice(0, digits.length - tail);
  if (kept === "") return "0";
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(tail);
  return `${sign}${kept}e${power}`;
}

/** Whether a float would change it. */
export function isBeyondFloat(text: string): boolean {
  const value = Number(text);
  if (!Number.isFinite(value)) return true;
  return canonicalNumber(text) !== canonicalNumber(value.toString());
}
