import { Module } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { APP_FILTER } from '@nestjs/core';
import { LoggerModule } from 'nestjs-pino';
import { DiagnosisModule } from './diagnosis.module';
import { DiagnosisErrorFilter } from './http/diagnosis-error.filter';
import { HealthController } from './http/health.controller';
import { requestLogging } from './request-logging';
import { readServiceSettings, type ServiceSettings } from './service-settings';

/** The settings as a namespace of `ConfigModule`; its KEY is the injection token. The command line does without it. */
export const serviceSettings = registerAs('service', () => readServiceSettings(process.env));

/** The service: the diagnosis with its settings from the environment, health, and a log without bodies and headers. */
@Module({
  imports: [
    LoggerModule.forRootAsync({
      imports: [ConfigModule.forFeature(serviceSettings)],
      inject: [serviceSettings.KEY],
      useFactory: ({ logLevel }: ServiceSettings) => requestLogging(logLevel),
    }),
    DiagnosisModule.forRootAsync({
      imports: [ConfigModule.forFeature(serviceSettings)],
      inject: [serviceSettings.KEY],
      useFactory: ({ options }: ServiceSettings) => options,
    }),
    ConfigModule.forFeature(serviceSettings),
  ],
  controllers: [HealthController],
  providers: [{ provide: APP_FILTER, useClass: DiagnosisErrorFilter }],
})
export class AppModule {}
