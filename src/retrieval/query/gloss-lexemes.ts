import { listLexemes } from '../../db/queries/known-people.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { glossWords, listGlossWords } from '../../memory/facts/lexicon.ts';

export type FindGlossLexemes = (predicateKey: string) => ReadonlySet<string>;

/** By language. The database stems the words of all glosses once in the life of a process. */
const loading = new Map<string, Promise<FindGlossLexemes>>();

/** Returns what finds the lexemes of a predicate's gloss, as the keyword channel would stem them. */
export function loadGlossLexemes({ db, config }: MemoryContext): Promise<FindGlossLexemes> {
  const { language } = config.memory.retrieval;
  const known = loading.get(language);
  if (known !== undefined) return known;
  const loaded = stemWords(db, language);
  loading.set(language, loaded);
  // The next call tries again.
  loaded.catch(() => loading.delete(language));
  return loaded;
}

async function stemWords(db: MemoryContext['db'], language: string): Promise<FindGlossLexemes> {
  const lexemes = await listLexemes(db, language, glossWords);
  const byPredicate = new Map<string, ReadonlySet<string>>();
  return (predicateKey) => {
    const known = byPredicate.get(predicateKey);
    if (known !== undefined) return known;
    const found = new Set(listGlossWords(predicateKey).flatMap((word) => lexemes.get(word) ?? []));
    if (byPredicate.size < mostPredicates) byPredicate.set(predicateKey, found);
    return found;
  };
}

const mostPredicates = 10_000;
