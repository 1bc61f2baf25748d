interface Omissions {
  redacted?: number;
  cut?: readonly { field: string; from_length: number; to_length: number }[];
}

/** Tells the model what a write did not keep of its arguments: every tool whose operation selects these fields. */
export function describeOmissions({ redacted = 0, cut = [] }: Omissions): string[] {
  const masked = redacted === 1 ? '1 secret or personal number was' : `${redacted} secrets and personal numbers were`;
  return [
    ...cut.map(
      ({ field, from_length, to_length }) =>
        `${field} was cut from ${from_length} to ${to_length} characters; the rest was not stored.`,
    ),
    ...(redacted === 0 ? [] : [`${masked} masked before storing.`]),
  ];
}
