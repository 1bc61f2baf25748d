/**
 * Which facts say who the user is: those about the user that are permanent, or whose predicate is one of a few that
 * whoever serves someone has to know. They come into every context, whatever the prompt is about. Subjects and predicates
 * are in the form of keys: lower case, words joined by an underscore.
 */
export const identityFacts = {
  subjects: ['user', 'the_user', 'owner', 'the_owner', 'me'],
  predicates: [
    ...['name', 'full_name', 'first_name', 'last_name', 'nickname', 'preferred_name', 'pronouns'],
    ...['birthday', 'birth_date', 'date_of_birth', 'language', 'preferred_language', 'native_language'],
    ...['timezone', 'time_zone', 'home', 'home_address', 'address', 'lives_in', 'allergy', 'allergies'],
  ],
  most: 50,
} as const;
