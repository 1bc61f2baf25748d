import type { QualityData } from './memories.ts';
import { factsOfPeople, questionsAboutPeople } from './people.ts';
import { questionsAboutRules, rulesOfHousehold } from './rules.ts';
import { questionsAboutSessions, sessionsOfHousehold } from './sessions.ts';
import { factsOfScopes, factsWithUpdates, questionsAboutUpdates, questionsOfScopes } from './updates.ts';

/** The same for the same moment; only what happened "last week" and the like moves with it. */
export function generateQualityData(now: Date): QualityData {
  return {
    facts: [...factsOfPeople(), ...factsWithUpdates(), ...factsOfScopes()],
    rules: rulesOfHousehold(),
    sessions: sessionsOfHousehold(now),
    questions: [
      ...questionsAboutPeople(),
      ...questionsAboutUpdates(),
      ...questionsOfScopes(),
      ...questionsAboutRules(),
      ...questionsAboutSessions(now),
    ],
  };
}
