import type { INestApplication } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';

/**
 * Publishes the API: a page at `/docs`, the document at `/docs-json`.
 * @throws DiagnosisError DEPENDENCY_MISSING where `@nestjs/swagger` is not installed
 */
export async function publishOpenApi(app: INestApplication): Promise<void> {
  const { DocumentBuilder, SwaggerModule } = await import('@nestjs/swagger').catch(() => {
    throw new DiagnosisError('DEPENDENCY_MISSING', 'The page at /docs needs a package: npm install @nestjs/swagger', {
      package: '@nestjs/swagger',
    });
  });
  const about = new DocumentBuilder()
    .setTitle('nestjs-diagnosis')
    .setDescription('Incident answers in which every claim opens its evidence.')
    .setVersion('1')
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, about), { jsonDocumentUrl: 'docs-json' });
}
