import { predicateKey } from '../../memory/facts/lexicon.ts';

const names = ['name', 'full_name', 'first_name', 'last_name', 'nickname', 'preferred_name', 'pronouns'];
const births = ['birthday', 'birth_date', 'date_of_birth'];
const languages = ['language', 'preferred_language', 'native_language'];
const places = ['timezone', 'time_zone', 'home', 'home_address', 'address', 'lives_in'];
const dangers = ['allergy', 'allergies'];

/**
 * Which facts say who the user is: those about the user that are permanent, or whose predicate is one of a few that
 * a butler has to know about its user. They come into every context, whatever the prompt is about. Subjects and predicates
 * are in the form of keys: lower case, words joined by an underscore.
 */
export const identityFacts = {
  subjects: ['user', 'the_user', 'owner', 'the_owner', 'me'],
  predicates: [...new Set([...names, ...births, ...languages, ...places, ...dangers].map(predicateKey))],
  /** The most important ones. */
  most: 50,
};
