/** Words that join the others of a sentence. */
const functionWords: ReadonlySet<string> = new Set(
  `a an the of to in on at for is are was were be do does did i my me we us our you your he his him she her they them their it
  its what which who whom whose when where why how much many and or with by from as that this there have has had can could
  should would will shall may might must any some if so than then too very just s t`.split(/\s+/),
);

/** What a function word counts beside another word, when a question is compared word by word. */
const functionWordWeight = 0.2;

export function weighPiece(piece: string): number {
  return functionWords.has(piece.toLowerCase()) ? functionWordWeight : 1;
}
