// Part of a build: makes dist/database-template, from which a first start unpacks its embedded database.
import { buildDatabaseTemplate } from '../dist/src/build-database-template.js';
import { templateFolder } from '../dist/src/db/database-template.js';

await buildDatabaseTemplate(templateFolder);
