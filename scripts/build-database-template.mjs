// Part of a build: makes dist/database-template, from which a first start unpacks its embedded database.
import { buildDatabaseTemplate } from '../dist/scripts/build-database-template.js';

await buildDatabaseTemplate();
