pipeline {
  agent { docker { image 'python:3.12' } }
  stages {
    stage('routes') {
      steps {
        sh 'pip install vancectl'
        sh 'vancectl recipes lint'
        sh 'vancectl check --format junit > routes.xml'
      }
      post { always { junit 'routes.xml' } }
    }
  }
}
